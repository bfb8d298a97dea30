// A terminal on which text is written from top to bottom, above a footer of a few lines that is redrawn: input, queue, status.
// Written text is never changed. Each change is one write, so that nothing flickers.

import { displayWidth, splitCharacters } from "./display-width.ts";

/** `cursor` is the position within the rows: row from the top, column from 0. */
export type Footer = { rows: readonly string[]; cursor: { row: number; column: number } };

type Terminal = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">;

// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const STYLES = /\u001b\[[\d;]*m/g;
const CLEAR_BELOW = "\u001b[J";
const HIDE = "\u001b[?25l";
const SHOW = "\u001b[?25h";

export class Page {
  readonly #terminal: Terminal;
  readonly #footer: (isLineOpen: boolean) => Footer | null;
  /** The column at the end of the open line, 0 if none is open. At the terminal's width, the next character starts another row. */
  #column = 0;
  #drawnFooter: Footer | null = null;

  /** `foot` is called after each change and returns the footer, or null for none. */
  constructor(terminal: Terminal, foot: (isLineOpen: boolean) => Footer | null) {
    this.#terminal = terminal;
    this.#footer = foot;
  }

  get columns(): number {
    return Math.max(20, this.#terminal.columns || 80);
  }

  get rows(): number {
    return Math.max(5, this.#terminal.rows || 24);
  }

  /** Writes more text and redraws the footer below it. */
  write(text: string): void {
    const erase = this.#eraseFooter();
    this.#advance(text);
    this.#terminal.write(`${HIDE}${erase}${text.replaceAll("\n", "\r\n")}${this.#drawFooter()}${SHOW}`);
  }

  redraw(): void {
    this.write("");
  }

  /** Removes the footer and starts a new line. */
  end(): void {
    this.#terminal.write(`${this.#eraseFooter()}${this.#column > 0 ? "\r\n" : ""}`);
    this.#column = 0;
  }

  /** Moves the cursor to where the text continues and erases the footer. */
  #eraseFooter(): string {
    const drawn = this.#drawnFooter;
    this.#drawnFooter = null;
    if (drawn === null) return "";
    const top = drawn.cursor.row > 0 ? `\u001b[${drawn.cursor.row}A` : "";
    // An open line is above the footer, unless it fills its row: then it continues where the footer was.
    const back = this.#column > 0 && this.#column < this.columns ? `\u001b[A\u001b[${this.#column + 1}G` : "";
    return `\r${top}${CLEAR_BELOW}${back}`;
  }

  #drawFooter(): string {
    const foot = this.#footer(this.#column > 0);
    if (foot === null || foot.rows.length === 0) return "";
    this.#drawnFooter = foot;
    const up = foot.rows.length - 1 - foot.cursor.row;
    const begin = this.#column > 0 ? "\r\n" : "";
    return `${begin}${foot.rows.join("\r\n")}${up > 0 ? `\u001b[${up}A` : ""}\u001b[${foot.cursor.column + 1}G`;
  }

  #advance(text: string): void {
    for (const character of splitCharacters(text.replace(STYLES, ""))) {
      if (character === "\n") this.#column = 0;
      else if (character === "\t") this.#column = Math.min(this.columns, (Math.floor(this.#column / 8) + 1) * 8);
      else {
        const width = displayWidth(character);
        this.#column = this.#column + width > this.columns ? width : this.#column + width;
      }
    }
  }
}

/** Wraps text into rows narrower than `columns`, indented after the first, with the cursor between `before` and `after`. */
export function wrapInput(prompt: string, before: string, after: string, columns: number): Footer {
  const rows = [prompt];
  let cursor = { row: 0, column: displayWidth(prompt) };
  const room = columns - 1;
  let column = cursor.column;
  const indent = " ".repeat(Math.min(displayWidth(prompt), 2));
  const put = (character: string) => {
    if (character === "\n" || column + displayWidth(character) > room) {
      rows.push(indent);
      column = indent.length;
    }
    if (character === "\n") return;
    rows[rows.length - 1] += character === "\t" ? " " : character;
    column += character === "\t" ? 1 : displayWidth(character);
  };
  for (const character of splitCharacters(before)) put(character);
  cursor = { row: rows.length - 1, column };
  for (const character of splitCharacters(after)) put(character);
  return { rows, cursor };
}
