// The Blobs port over R2, whose puts are atomic. R2 cannot append, so growing content is kept as pieces that are streamed into
// one object once all are there.

import { concat } from "../../lib/bytes.ts";
import type { Blobs, GrowingBlob } from "../../ports/blobs.ts";

/** Sorts before the keys of blobs, which start with a lower-case letter. */
const PIECES = "_parts/";
const PIECE_BYTES = 8 * 1024 * 1024;
const OFFSET_DIGITS = 16;
const PAGE = 500;

export class CloudflareBlobs implements Blobs {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  async put(key: string, content: Uint8Array): Promise<void> {
    await this.#bucket.put(key, content);
  }

  async get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | null> {
    if (range !== undefined && range.end <= range.start) return (await this.#bucket.head(key)) === null ? null : new Uint8Array();
    const object = await this.#bucket.get(
      key,
      range === undefined ? {} : { range: { offset: range.start, length: range.end - range.start } },
    );
    return object === null ? null : new Uint8Array(await object.arrayBuffer());
  }

  async delete(key: string): Promise<void> {
    await this.#bucket.delete(key);
  }

  async list(after: string | null, limit: number): Promise<string[]> {
    // Skips the pieces of growing content.
    const { objects } = await this.#bucket.list({ limit, startAfter: after ?? "_~" });
    return objects.map(({ key }) => key);
  }

  async openGrowing(part: string): Promise<GrowingBlob> {
    const pieces: Piece[] = [];
    for await (const { key, size } of this.#listPieces(`${PIECES}${part}/`))
      pieces.push({ key, at: Number(key.slice(-OFFSET_DIGITS)), size });
    return new GrowingPieces(this.#bucket, `${PIECES}${part}/`, pieces);
  }

  async dropUnfinished(before: number): Promise<void> {
    for await (const { key, uploaded } of this.#listPieces(PIECES)) if (uploaded.getTime() < before) await this.#bucket.delete(key);
  }

  async *#listPieces(prefix: string): AsyncGenerator<R2Object> {
    let after = prefix;
    for (;;) {
      const { objects, truncated } = await this.#bucket.list({ prefix, startAfter: after, limit: PAGE });
      yield* objects;
      if (!truncated) return;
      after = objects.at(-1)?.key ?? after;
    }
  }
}

type Piece = { key: string; at: number; size: number };

class GrowingPieces implements GrowingBlob {
  readonly #bucket: R2Bucket;
  readonly #prefix: string;
  readonly #pieces: Piece[] = [];
  /** Content since the last stored piece. It is lost if the object hibernates; then the sender sends it again. */
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;

  constructor(bucket: R2Bucket, prefix: string, pieces: readonly Piece[]) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    // A gap means that the platform lost a piece; later pieces are useless.
    for (const piece of pieces) if (piece.at === this.#storedBytes) this.#pieces.push(piece);
  }

  get #storedBytes(): number {
    const last = this.#pieces.at(-1);
    return last === undefined ? 0 : last.at + last.size;
  }

  get size(): number {
    return this.#storedBytes + this.#bufferedBytes;
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    const piece = this.#pieces.find(({ at, size }) => start >= at && start < at + size);
    if (piece === undefined) return concat(this.#buffered).subarray(start - this.#storedBytes, end - this.#storedBytes);
    const length = Math.min(end, piece.at + piece.size) - start;
    const object = await this.#bucket.get(piece.key, { range: { offset: start - piece.at, length } });
    return object === null ? new Uint8Array() : new Uint8Array(await object.arrayBuffer());
  }

  async write(content: Uint8Array): Promise<void> {
    this.#buffered.push(content);
    this.#bufferedBytes += content.length;
    if (this.#bufferedBytes >= PIECE_BYTES) await this.#flush();
  }

  async finish(key: string): Promise<void> {
    await this.#flush();
    const { readable, writable } = new FixedLengthStream(this.size);
    const upload = this.#bucket.put(key, readable);
    for (const [at, piece] of this.#pieces.entries()) {
      const object = await this.#bucket.get(piece.key);
      if (object === null) throw new Error("A part of the upload is gone: upload the file again");
      await object.body.pipeTo(writable, { preventClose: at < this.#pieces.length - 1 });
    }
    if (this.#pieces.length === 0) await writable.close();
    await upload;
    await this.drop();
  }

  async close(): Promise<void> {
    await this.#flush();
  }

  async drop(): Promise<void> {
    for (const { key } of this.#pieces) await this.#bucket.delete(key);
  }

  async #flush(): Promise<void> {
    if (this.#bufferedBytes === 0) return;
    const at = this.#storedBytes;
    const key = `${this.#prefix}${String(at).padStart(OFFSET_DIGITS, "0")}`;
    await this.#bucket.put(key, concat(this.#buffered));
    this.#pieces.push({ key, at, size: this.#bufferedBytes });
    this.#buffered = [];
    this.#bufferedBytes = 0;
  }
}
