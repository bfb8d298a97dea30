// Byte streams between two threads. The receiver grants a number of pieces and the sender sends no more; either side may cancel.
// Each piece is copied once and transferred, because its buffer may be used elsewhere.

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
type OutgoingStream = { reader: ReadableStreamDefaultReader<Uint8Array>; wanted: number; isPumping: boolean };
type IncomingStream = { controller: ReadableStreamDefaultController<Uint8Array>; granted: number };

/** Pieces in flight or waiting to be read, per stream. */
const ROOM_PIECES = 8;

export class Streams {
  readonly #post: Post;
  readonly #out = new Map<number, OutgoingStream>();
  readonly #in = new Map<number, IncomingStream>();
  #lastId = 0;

  constructor(post: Post) {
    this.#post = post;
  }

  /** Number of unfinished streams. */
  get size(): number {
    return this.#out.size + this.#in.size;
  }

  /** Hands a stream to the other side and returns its number. */
  send(stream: ReadableStream<Uint8Array>): number {
    const id = ++this.#lastId;
    this.#out.set(id, { reader: stream.getReader(), wanted: 0, isPumping: false });
    return id;
  }

  /** The stream that the other side sends under this number. */
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

  handleMessage(message: StreamMessage): void {
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
        const incoming = this.#in.get(message.stream);
        if (incoming === undefined) return;
        incoming.granted--;
        incoming.controller.enqueue(message.bytes);
        return;
      }
      case "end":
        return this.#finish(message.stream, (controller) => controller.close());
      case "broken":
        return this.#finish(message.stream, (controller) => controller.error(errorOf(message.failure)));
    }
  }

  /** Ends all streams because the other side is gone. */
  endAll(error: Error): void {
    for (const id of this.#in.keys()) this.#finish(id, (controller) => controller.error(error));
    for (const { reader } of this.#out.values()) reader.cancel(error).catch(() => {});
    this.#out.clear();
  }

  #finish(id: number, end: (controller: ReadableStreamDefaultController<Uint8Array>) => void): void {
    const incoming = this.#in.get(id);
    this.#in.delete(id);
    if (incoming !== undefined) end(incoming.controller);
  }

  #grant(id: number): void {
    const incoming = this.#in.get(id);
    if (incoming === undefined) return;
    const pieces = (incoming.controller.desiredSize ?? 0) - incoming.granted;
    if (pieces <= 0) return;
    incoming.granted += pieces;
    this.#post({ type: "want", stream: id, pieces });
  }

  async #pump(id: number, out: OutgoingStream): Promise<void> {
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
