// The values that one named thing may hold, given what was requested and promised. Judges durability: a promised write must stay
// until a later request replaces it, a refused one must never show, and one without an answer may have happened or not.

export type Write = {
  value: string;
  /** When it reached the kernel, and the last moment at which it can have taken effect (null while in progress). */
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

  /** Every value that a read at `when` may return. */
  admissible(when: number = Infinity): string[] {
    const promised = this.#writes.filter((write) => write.promisedAt !== null && write.promisedAt <= when);
    const isReplaced = (write: Write) => promised.some((later) => write.end !== null && later.start > write.end);
    return this.#writes.filter((write) => !write.isRefused && !isReplaced(write)).map((write) => write.value);
  }

  /** Somebody read this value, so it is promised from now on. */
  observed(value: string, now: number): void {
    const write = this.#writes.find((candidate) => candidate.value === value && !candidate.isRefused);
    if (write !== undefined) write.promisedAt ??= now;
  }

  values(): string[] {
    return this.#writes.map((write) => write.value);
  }
}
