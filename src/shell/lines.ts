// What is typed, as a terminal hands it on: line by line. The end of input is Ctrl-D.

const END = "\u0004";
const CHARS_MAX = 1024 * 1024;
/** With less than this unread, there is room for more. */
const ROOM_CHARS = 64 * 1024;

export class Lines {
  readonly #wants: () => void;
  #text = "";
  #isOver = false;
  #waiting: ((line: string | null) => void) | null = null;
  #hasRoom: (() => void)[] = [];

  /** `wants` is told when a line is waited for and none is there. */
  constructor(wants: () => void) {
    this.#wants = wants;
  }

  /** Resolves when there is room for more. */
  feed(text: string): Promise<void> {
    this.#add(text);
    if (this.#text.length < ROOM_CHARS) return Promise.resolve();
    return new Promise((resolve) => this.#hasRoom.push(resolve));
  }

  #add(text: string): void {
    const end = text.indexOf(END);
    if (this.#isOver) return;
    this.#isOver = end !== -1;
    // Nobody may ever read it.
    this.#text = (this.#text + (end === -1 ? text : text.slice(0, end))).slice(0, CHARS_MAX);
    const line = this.#waiting === null ? undefined : this.#take();
    if (line === undefined) {
      if (this.#waiting !== null) this.#wants();
      return;
    }
    this.#waiting?.(line);
    this.#waiting = null;
  }

  /** With its end; null at the end of input. */
  next(): Promise<string | null> {
    const line = this.#take();
    if (line !== undefined) return Promise.resolve(line);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#wants();
    });
  }

  /** As many as are there: for a reader to whom each question is a long way. */
  async nextFew(): Promise<string[] | null> {
    const first = await this.next();
    if (first === null) return null;
    const lines = [first];
    for (let chars = first.length; chars < ROOM_CHARS && this.#text.includes("\n"); chars += lines.at(-1)!.length)
      lines.push(this.#take()!);
    return lines;
  }

  #take(): string | null | undefined {
    const end = this.#text.indexOf("\n") + 1;
    if (end > 0 || this.#isOver) {
      const line = end > 0 ? this.#text.slice(0, end) : this.#text;
      this.#text = this.#text.slice(line.length);
      if (this.#text.length < ROOM_CHARS) for (const tell of this.#hasRoom.splice(0)) tell();
      return line === "" ? null : line;
    }
    return undefined;
  }
}
