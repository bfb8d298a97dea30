// Wraps a line at words while it is still arriving: what is shown never changes, so the last word is held back until it ends. Styled
// text passes; code stays together if it fits on a line.

import { displayWidth, isWide, mayBeginLine, splitCharacters } from "./display-width.ts";

// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const PARTS = /\u001b\[[\d;]*m| +|[^ \u001b]+|\u001b/g;
const CODE_ON = "\u001b[36m";
const CODE_OFF = "\u001b[39m";

export class LineWrap {
  readonly #columns: () => number;
  #indent = 0;
  #column = 0;
  #gap = "";
  #word = "";
  #wordWidth = 0;
  #isCode = false;

  constructor(columns: () => number) {
    this.#columns = columns;
  }

  /** Starts the line with text that is shown at once; its later rows are indented to the end of it. */
  begin(marker: string): string {
    this.#indent = displayWidth(marker);
    this.#column = this.#indent;
    return marker;
  }

  /** Returns what can be shown: all but the last word. */
  push(text: string): string {
    if (this.#columns() === Infinity) return text;
    let shown = "";
    for (const [part] of text.matchAll(PARTS)) {
      if (part.startsWith("\u001b")) {
        this.#word += part;
        if (part === CODE_ON) this.#isCode = true;
        else if (part === CODE_OFF) this.#isCode = false;
      } else if (part.startsWith(" ") && !this.#isCode) {
        shown += this.#takeWord();
        this.#gap += part;
      } else shown += this.#addToWord(part);
    }
    return shown;
  }

  /** Ends the line and returns the rest of it. */
  end(): string {
    const rest = this.#takeWord() + this.#gap;
    [this.#indent, this.#column, this.#gap, this.#isCode] = [0, 0, "", false];
    return rest;
  }

  #addToWord(part: string): string {
    if (!isWide(part)) {
      this.#word += part;
      this.#wordWidth += displayWidth(part);
      return "";
    }
    let shown = "";
    for (const character of splitCharacters(part)) {
      if (isWide(character) && mayBeginLine(character)) shown += this.#takeWord();
      this.#word += character;
      this.#wordWidth += displayWidth(character);
    }
    return shown;
  }

  #takeWord(): string {
    const [word, width, gap] = [this.#word, this.#wordWidth, this.#gap];
    if (word === "") return "";
    [this.#word, this.#wordWidth, this.#gap] = ["", 0, ""];
    const isFull = width > 0 && this.#column + gap.length + width > this.#columns() && this.#column > this.#indent;
    if (isFull) {
      this.#column = this.#indent + width;
      return `\n${" ".repeat(this.#indent)}${word}`;
    }
    this.#column += gap.length + width;
    return gap + word;
  }
}
