// Server-sent events of an MCP server. They are read here and written anew, so that what was checked is what the client reads: whole
// events, each with a size, without comments. A server that sends faster than the kernel's thread should read is read more slowly.

import { delay } from "../lib/yield.ts";
import { checkMessage, MESSAGE_BYTES, tooLargeError } from "./messages.ts";

/** A server may ask that its stream is opened again after it has ended, but not at once: that would be a loop without end. */
const RETRY_MS_MIN = 500;

/** Lines in a second, of which each event counts as many: the client takes a tenth of a millisecond for one. */
const LINES_PER_SECOND = 20_000;
const LINES_PER_EVENT = 50;

export function limitEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const lines = new LineReader();
  const events = new EventReader();
  const pace = new Pace();
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(part, controller) {
        for (const line of lines.read(decoder.decode(part, { stream: true }))) {
          const event = events.add(line);
          const restMs = pace.spend(event === null ? 1 : LINES_PER_EVENT);
          if (restMs > 0) await delay(restMs);
          if (event !== null) controller.enqueue(encoder.encode(event));
        }
      },
    }),
  );
}

/** Lines end with CR, LF, or both, wherever the text was cut. */
class LineReader {
  /** Of the line that has not ended. */
  #parts: string[] = [];
  #chars = 0;
  #endsWithCr = false;

  *read(text: string): Generator<string> {
    if (text === "") return;
    let from = this.#endsWithCr && text.startsWith("\n") ? 1 : 0;
    this.#endsWithCr = text.endsWith("\r");
    const ends = /\r\n?|\n/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      this.#keep(text.slice(from, end.index));
      from = ends.lastIndex;
      const line = this.#parts.join("");
      this.#parts = [];
      this.#chars = 0;
      yield line;
    }
    this.#keep(text.slice(from));
  }

  #keep(part: string): void {
    if (part === "") return;
    this.#parts.push(part);
    this.#chars += part.length;
    if (this.#chars > MESSAGE_BYTES) throw tooLargeError(MESSAGE_BYTES);
  }
}

class EventReader {
  #fields: string[] = [];
  #data: string[] = [];
  #chars = 0;

  /** The event that the line has ended, as text. */
  add(line: string): string | null {
    if (line === "") return this.#end();
    const [, name = "", value = ""] = /^([^:]*)(?:: ?)?([^]*)$/.exec(line)!;
    if (name === "data") this.#data.push(value);
    else if (name === "event" || name === "id") this.#fields.push(`${name}: ${value}`);
    else if (name === "retry" && /^\d+$/.test(value)) this.#fields.push(`retry: ${Math.max(RETRY_MS_MIN, Number(value))}`);
    else return null;
    this.#chars += line.length + 1;
    if (this.#chars > MESSAGE_BYTES) throw tooLargeError(MESSAGE_BYTES);
    return null;
  }

  #end(): string | null {
    const [fields, data] = [this.#fields, this.#data];
    [this.#fields, this.#data, this.#chars] = [[], [], 0];
    if (fields.length === 0 && data.length === 0) return null;
    checkMessage(data.join("\n"));
    return [...fields, ...data.map((line) => `data: ${line}`), "", ""].join("\n");
  }
}

class Pace {
  #left = LINES_PER_SECOND;
  #at = performance.now();

  /** How long to wait before going on. */
  spend(lines: number): number {
    this.#left -= lines;
    if (this.#left > 0) return 0;
    const now = performance.now();
    this.#left = Math.min(LINES_PER_SECOND, this.#left + ((now - this.#at) / 1000) * LINES_PER_SECOND);
    this.#at = now;
    return this.#left > 0 ? 0 : (LINES_PER_EVENT / LINES_PER_SECOND - this.#left / LINES_PER_SECOND) * 1000;
  }
}
