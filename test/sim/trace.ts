// Everything that happened in a simulated world, as one hash, with the last lines for debugging.

import { createHash } from "node:crypto";

const TAIL_LINES = 80;
const LINE_CHARS = 220;

export class Trace {
  readonly #hash = createHash("sha256");
  readonly tail: string[] = [];

  add(at: number, line: string): void {
    const full = `${at.toFixed(2)} ${line}`;
    this.#hash.update(full);
    this.tail.push(full.slice(0, LINE_CHARS));
    if (this.tail.length > TAIL_LINES) this.tail.shift();
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}
