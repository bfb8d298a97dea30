// A line on standard error that says what a command waits for, once it waits for longer than a moment. It is erased before anything
// else is written, and leaves nothing behind. Without a terminal there is none.

import { displayWidth, splitCharacters } from "./display-width.ts";
import { escapeControls, hasColours } from "./terminal.ts";
import { applyStyle } from "./text-style.ts";

const ERASE = "\r\u001b[K";

export class StatusLine {
  readonly #stream: NodeJS.WriteStream;
  #isShown = false;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  /** Replaces the text; an empty one erases it. */
  show(text: string): void {
    if (!this.#stream.isTTY || text === "") return this.erase();
    const shown = cutTo(escapeControls(text), (this.#stream.columns || 80) - 1);
    this.#stream.write(`${ERASE}${hasColours() ? applyStyle(shown, "dim") : shown}`);
    this.#isShown = true;
  }

  erase(): void {
    if (this.#isShown) this.#stream.write(ERASE);
    this.#isShown = false;
  }
}

/** Cuts a text to a width, and marks the cut. */
export function cutTo(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let shown = "";
  let width = 0;
  for (const character of splitCharacters(text)) {
    width += displayWidth(character);
    if (width > columns - 1) break;
    shown += character;
  }
  return `${shown}…`;
}
