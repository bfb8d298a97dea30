// The near end of a body: sends a file's bytes as far as the other end requests them, or receives them and announces when there
// is room for more. Both ends hash all of it, including bytes from an earlier attempt.

import { BODY_CHUNK_BYTES, BODY_WINDOW_BYTES, type BodyEnd, type BodyNote } from "../protocol/body.ts";
import { type Deferred, deferred } from "../lib/deferred.ts";
import { OpError } from "./outcome.ts";

export type Hash = { update(bytes: Uint8Array): unknown; hex(): string };

export type OutgoingBody = {
  size: number;
  version: string;
  mode: number;
  read(start: number, end: number): Promise<Uint8Array>;
};

/** Where received bytes go. */
export type IncomingBody = {
  /** Number of bytes from an earlier attempt. */
  readonly have: number;
  read(start: number, end: number): Promise<Uint8Array>;
  write(chunk: Uint8Array): Promise<void>;
};

export type BeginNote = Extract<BodyNote, { kind: "begin" }>;

/** How often the other end gets a sign of life while old bytes are hashed. */
const BUSY_MS = 5_000;

export class Body implements BodyEnd {
  readonly #far: BodyEnd;
  readonly #newHash: () => Hash;
  readonly #begin = deferred<BeginNote>();
  #chunks: Uint8Array[] = [];
  #wanted: { from: number; until: number } | null = null;
  #sha256: string | null = null;
  #failure: Error | null = null;
  #changed: Deferred = deferred();

  constructor(far: BodyEnd, newHash: () => Hash) {
    this.#far = far;
    this.#newHash = newHash;
  }

  /** The sender's first note. */
  async waitForBegin(): Promise<BeginNote> {
    const first = await Promise.race([this.#begin.promise, this.#waitForFailure()]);
    return first;
  }

  acceptChunk(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#notifyWaiters();
  }

  acceptNote(note: BodyNote): void {
    if (note.kind === "begin") this.#begin.resolve(note);
    else if (note.kind === "more") this.#wanted = { from: this.#wanted?.from ?? note.from, until: note.until };
    else if (note.kind === "end") this.#sha256 = note.sha256;
    else if (note.kind === "stop") this.#failure ??= new OpError(note.why);
    this.#notifyWaiters();
  }

  /** Rejects all waits and stops sending. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#notifyWaiters();
  }

  async send(content: OutgoingBody): Promise<{ sha256: string; from: number }> {
    const { size, version, mode } = content;
    const read: OutgoingBody["read"] = (start, end) => content.read(start, end);
    this.#far.acceptNote({ kind: "begin", size, version, mode });
    const { from } = await this.#waitFor(() => this.#wanted);
    if (from > size) throw new OpError(`Cannot send from byte ${from}: the file has ${size} bytes`);
    const hash = this.#newHash();
    await this.#rehash(hash, from, read);
    let at = from;
    // The next piece is read while this one is hashed and sent.
    let nextPiece = this.#readRequested(at, size, read);
    while (at < size) {
      const piece = (await nextPiece) ?? (await this.#waitFor(() => this.#readRequested(at, size, read)));
      if (this.#failure !== null) throw this.#failure;
      if (piece.length === 0) throw new OpError("The file became shorter while it was being sent");
      at += piece.length;
      nextPiece = this.#readRequested(at, size, read);
      nextPiece?.catch(() => {});
      hash.update(piece);
      this.#far.acceptChunk(piece);
    }
    const sha256 = hash.hex();
    this.#far.acceptNote({ kind: "end", sha256 });
    return { sha256, from };
  }

  /** `size` is the total to be received. Fails unless the checksums of both ends match. */
  async receive(size: number, incoming: IncomingBody): Promise<{ sha256: string }> {
    const hash = this.#newHash();
    const from = incoming.have;
    await this.#rehash(hash, from, (start, end) => incoming.read(start, end));
    let at = from;
    let until = Math.min(size, at + BODY_WINDOW_BYTES);
    this.#far.acceptNote({ kind: "more", from, until });
    while (at < size) {
      const chunks = await this.#waitFor(() => (this.#chunks.length > 0 ? this.#chunks : this.#sha256 !== null ? [] : null));
      this.#chunks = [];
      if (chunks.length === 0) throw new OpError(`The transfer ended after ${at} of ${size} bytes`);
      for (const chunk of chunks) {
        at += chunk.length;
        if (at > size) throw new OpError(`More bytes arrived than the ${size} announced`);
        const writing = incoming.write(chunk);
        hash.update(chunk);
        await writing;
        if (until < size && until - at <= BODY_WINDOW_BYTES / 2) {
          until = Math.min(size, at + BODY_WINDOW_BYTES);
          this.#far.acceptNote({ kind: "more", from, until });
        }
      }
    }
    const expected = await this.#waitFor(() => this.#sha256);
    const sha256 = hash.hex();
    if (expected !== sha256) throw new ChecksumError();
    return { sha256 };
  }

  /** Null while nothing more is requested. */
  #readRequested(at: number, size: number, read: OutgoingBody["read"]): Promise<Uint8Array> | null {
    const end = Math.min(at + BODY_CHUNK_BYTES, size, this.#wanted?.until ?? 0);
    return end > at ? read(at, end) : null;
  }

  async #rehash(hash: Hash, until: number, read: OutgoingBody["read"]): Promise<void> {
    let notedAt = performance.now();
    for (let at = 0; at < until;) {
      const piece = await read(at, Math.min(at + BODY_CHUNK_BYTES, until));
      if (this.#failure !== null) throw this.#failure;
      if (piece.length === 0) throw new OpError("The part from an earlier attempt is gone: copy the file again");
      hash.update(piece);
      at += piece.length;
      if (performance.now() - notedAt < BUSY_MS) continue;
      notedAt = performance.now();
      this.#far.acceptNote({ kind: "busy" });
    }
  }

  async #waitForFailure(): Promise<never> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure;
      await this.#changed.promise;
    }
  }

  async #waitFor<T>(take: () => T | null): Promise<T> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure;
      const found = take();
      if (found !== null) return found;
      await this.#changed.promise;
    }
  }

  #notifyWaiters(): void {
    this.#changed.resolve();
    this.#changed = deferred();
  }
}

/** The received bytes differ from those sent: none of them are usable. */
export class ChecksumError extends OpError {
  constructor() {
    super("The checksums differ, so the copy is damaged: copy the file again");
  }
}
