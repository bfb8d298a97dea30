// Streams of bytes between two threads. The receiver says how many pieces it has room for and no more are sent; either
// side may give up. Each piece is copied once and handed over, because nobody knows who else holds its buffer.

import { errorOf, type Failure, failureOf } from "../../ports/reply.ts";

export type StreamMessage =
  /** From the receiver. */
  | { type: "want"; stream: number; pieces: number }
  | { type: "cancel"; stream: number }
  /** From the sender. */
  | { type: "piece"; stream: number; bytes: Uint8Array<ArrayBuffer> }
  | { type: "end"; stream: number }
  | { type: "broken"; stream: number; failure: Failure };

type Post = (message: StreamMessage, transfer?: ArrayBuffer[]) => void;
type Out = { reader: ReadableStreamDefaultReader<Uint8Array>; wanted: number; isPumping: boolean };
type In = { controller: ReadableStreamDefaultController<Uint8Array>; granted: number };

/** Pieces on the way or waiting to be read, per stream. */
const ROOM_PIECES = 8;

export class Streams {
  readonly #post: Post;
  readonly #out = new Map<number, Out>();
  readonly #in = new Map<number, In>();
  #count = 0;

  constructor(post: Post) {
    this.#post = post;
  }

  /** How many are not finished. */
  get size(): number {
    return this.#out.size + this.#in.size;
  }

  /** From now on this stream is read by the other side, under the number returned. */
  send(stream: ReadableStream<Uint8Array>): number {
    const id = ++this.#count;
    this.#out.set(id, { reader: stream.getReader(), wanted: 0, isPumping: false });
    return id;
  }

  /** What the other side sends under this number. */
  receive(id: number): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => void this.#in.set(id, { controller, granted: 0 }),
        pull: () => this.#grant(id),
        cancel: () => {
          if (this.#in.delete(id)) this.#post({ type: "cancel", stream: id });
        },
      },
      { highWaterMark: ROOM_PIECES },
    );
  }

  take(message: StreamMessage): void {
    switch (message.type) {
      case "want": {
        const out = this.#out.get(message.stream);
        if (out === undefined) return;
        out.wanted += message.pieces;
        void this.#pump(message.stream, out);
        return;
      }
      case "cancel": {
        const out = this.#out.get(message.stream);
        this.#out.delete(message.stream);
        out?.reader.cancel().catch(() => {});
        return;
      }
      case "piece": {
        const into = this.#in.get(message.stream);
        if (into === undefined) return;
        into.granted--;
        into.controller.enqueue(message.bytes);
        return;
      }
      case "end":
        return this.#finish(message.stream, (controller) => controller.close());
      case "broken":
        return this.#finish(message.stream, (controller) => controller.error(errorOf(message.failure)));
    }
  }

  /** The other side is gone. */
  abandon(error: Error): void {
    for (const id of this.#in.keys()) this.#finish(id, (controller) => controller.error(error));
    for (const { reader } of this.#out.values()) reader.cancel(error).catch(() => {});
    this.#out.clear();
  }

  #finish(id: number, how: (controller: ReadableStreamDefaultController<Uint8Array>) => void): void {
    const into = this.#in.get(id);
    this.#in.delete(id);
    if (into !== undefined) how(into.controller);
  }

  #grant(id: number): void {
    const into = this.#in.get(id);
    if (into === undefined) return;
    const pieces = (into.controller.desiredSize ?? 0) - into.granted;
    if (pieces <= 0) return;
    into.granted += pieces;
    this.#post({ type: "want", stream: id, pieces });
  }

  async #pump(id: number, out: Out): Promise<void> {
    if (out.isPumping) return;
    out.isPumping = true;
    try {
      while (out.wanted > 0) {
        const { done, value } = await out.reader.read();
        if (!this.#out.has(id)) return;
        if (done) {
          this.#out.delete(id);
          return this.#post({ type: "end", stream: id });
        }
        if (value.length === 0) continue;
        out.wanted--;
        const bytes = new Uint8Array(value);
        this.#post({ type: "piece", stream: id, bytes }, [bytes.buffer]);
      }
    } catch (error) {
      if (this.#out.delete(id)) this.#post({ type: "broken", stream: id, failure: failureOf(error) });
    } finally {
      out.isPumping = false;
    }
  }
}
