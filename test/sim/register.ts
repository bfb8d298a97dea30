// What one named thing may hold, given what was asked for and what was promised. Judges durability: a promised write
// must stay until something asked for later replaces it, one that was refused must never show, and one nobody heard
// of may have happened or not.

export type Write = {
  value: string;
  /** The moment it reached the kernel, and the last at which it can have taken effect (null while under way). */
  start: number;
  end: number | null;
  isRefused: boolean;
  promisedAt: number | null;
};

export class Register {
  readonly #writes: Write[];

  constructor(initial: string) {
    this.#writes = [{ value: initial, start: -1, end: -1, isRefused: false, promisedAt: -1 }];
  }

  add(value: string, start: number, end: number | null): Write {
    const write: Write = { value, start, end, isRefused: false, promisedAt: null };
    this.#writes.push(write);
    return write;
  }

  /** Every value that may be seen by somebody who looks at `when`. */
  admissible(when: number = Infinity): string[] {
    const promised = this.#writes.filter((write) => write.promisedAt !== null && write.promisedAt <= when);
    const isReplaced = (write: Write) => promised.some((later) => write.end !== null && later.start > write.end);
    return this.#writes.filter((write) => !write.isRefused && !isReplaced(write)).map((write) => write.value);
  }

  /** Somebody was shown this value, so it is promised from now on. */
  observed(value: string, now: number): void {
    const write = this.#writes.find((candidate) => candidate.value === value && !candidate.isRefused);
    if (write !== undefined) write.promisedAt ??= now;
  }

  values(): string[] {
    return this.#writes.map((write) => write.value);
  }
}
