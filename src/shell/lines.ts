// Terminal input as lines. Ctrl-D is the end of input.

const END = "\u0004";
const CHARS_MAX = 1024 * 1024;
/** There is room for more while fewer characters than this are unread. */
const ROOM_CHARS = 64 * 1024;

export class Lines {
  readonly #onWait: () => void;
  #text = "";
  #isOver = false;
  #pendingRead: ((line: string | null) => void) | null = null;
  #roomCallbacks: (() => void)[] = [];

  /** `onWait` is called when a reader waits and there is no line. */
  constructor(onWait: () => void) {
    this.#onWait = onWait;
  }

  /** Resolves when there is room for more. */
  feed(text: string): Promise<void> {
    this.#add(text);
    if (this.#text.length < ROOM_CHARS) return Promise.resolve();
    return new Promise((resolve) => this.#roomCallbacks.push(resolve));
  }

  #add(text: string): void {
    const end = text.indexOf(END);
    if (this.#isOver) return;
    this.#isOver = end !== -1;
    // Cut at a limit, because nobody may ever read it.
    this.#text = (this.#text + (end === -1 ? text : text.slice(0, end))).slice(0, CHARS_MAX);
    const line = this.#pendingRead === null ? undefined : this.#takeLine();
    if (line === undefined) {
      if (this.#pendingRead !== null) this.#onWait();
      return;
    }
    this.#pendingRead?.(line);
    this.#pendingRead = null;
  }

  /** The next line with its newline; null at the end of input. */
  next(): Promise<string | null> {
    const line = this.#takeLine();
    if (line !== undefined) return Promise.resolve(line);
    return new Promise((resolve) => {
      this.#pendingRead = resolve;
      this.#onWait();
    });
  }

  /** All lines that are available, for a reader to whom each request is slow. */
  async nextLines(): Promise<string[] | null> {
    const first = await this.next();
    if (first === null) return null;
    const lines = [first];
    for (let chars = first.length; chars < ROOM_CHARS && this.#text.includes("\n"); chars += lines.at(-1)!.length)
      lines.push(this.#takeLine()!);
    return lines;
  }

  #takeLine(): string | null | undefined {
    const end = this.#text.indexOf("\n") + 1;
    if (end > 0 || this.#isOver) {
      const line = end > 0 ? this.#text.slice(0, end) : this.#text;
      this.#text = this.#text.slice(line.length);
      if (this.#text.length < ROOM_CHARS) for (const callback of this.#roomCallbacks.splice(0)) callback();
      return line === "" ? null : line;
    }
    return undefined;
  }
}
