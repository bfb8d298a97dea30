// The words, numbers and clock times of a text in lower case, and how far they are read. It knows nothing of what they mean: phrases.ts does.

/** Each alternative begins with other characters or has a fixed length, so it is read in one pass. */
const TOKENS =
  /\s+|(\d{4}-\d{1,2}-\d{1,2}(?:t\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(?::\d\d)?|:\d\d|\d{1,9}(?:\.\d{1,3})?|[a-z']{1,20}|,|-|@)/y;

export class Tokens {
  readonly #tokens: readonly string[];
  #at = 0;
  #refusal: string | null = null;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Null if there is something else in the text. */
  static read(text: string): Tokens | null {
    const tokens: string[] = [];
    TOKENS.lastIndex = 0;
    while (TOKENS.lastIndex < text.length) {
      const match = TOKENS.exec(text);
      if (match === null) return null;
      if (match[1] !== undefined) tokens.push(match[1]);
    }
    return new Tokens(tokens);
  }

  get isAtStart(): boolean {
    return this.#at === 0;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  /** Why it cannot be as it is written, if all of it turns out to be understood. */
  get refusal(): string | null {
    return this.#refusal;
  }

  refuse(why: string): void {
    this.#refusal ??= why;
  }

  /** The token here or further on; empty at the end. */
  word(ahead = 0): string {
    return this.#tokens[this.#at + ahead] ?? "";
  }

  take(): string {
    return this.#tokens[this.#at++] ?? "";
  }

  /** Whether one of the words is here; it is read then. */
  skip(...words: string[]): boolean {
    const isHere = words.includes(this.word());
    if (isHere) this.#at++;
    return isHere;
  }

  /** Whether all of the words are here in a row. */
  skipAll(...words: string[]): boolean {
    const areHere = words.every((word, ahead) => word === this.word(ahead));
    if (areHere) this.#at += words.length;
    return areHere;
  }

  /** Reads nothing if `read` says that it is something else. */
  try(read: () => boolean): boolean {
    return this.find(() => read() || null) !== null;
  }

  /** Reads nothing if `read` finds nothing. */
  find<T>(read: () => T | null): T | null {
    const [start, refusal] = [this.#at, this.#refusal];
    const found = read();
    if (found !== null) return found;
    this.#at = start;
    this.#refusal = refusal;
    return null;
  }

  /** Any number of them, with "," or "and" or both in between; or with nothing, if they `mayFollow`. */
  list<T>(read: () => T | null, mayFollow = false): T[] {
    const list: T[] = [];
    let next = this.find(read);
    while (next !== null) {
      list.push(next);
      next = this.find(() => {
        const isComma = this.skip(",");
        return this.skip("and") || isComma || mayFollow ? read() : null;
      });
    }
    return list;
  }
}
