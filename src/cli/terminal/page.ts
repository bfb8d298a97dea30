// A terminal on which text is written from top to bottom, with a few lines below it that are drawn again and again: what is being
// typed, what waits, how things stand. Text that was written is never touched. Each change is one write, so that nothing flickers.

import { width } from "./terminal.ts";

/** `cursor` is where it stands in the last of them: row from the top, column from 0. */
export type Foot = { rows: readonly string[]; cursor: { row: number; column: number } };

type Terminal = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">;

// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const STYLE = /\u001b\[[\d;]*m/y;
const CLEAR_BELOW = "\u001b[J";
const HIDE = "\u001b[?25l";
const SHOW = "\u001b[?25h";

export class Page {
  readonly #terminal: Terminal;
  readonly #foot: (isLineOpen: boolean) => Foot | null;
  /** Of the line that has no end yet; 0 where there is none. As wide as the terminal: the next character begins another row. */
  #column = 0;
  #drawn: Foot | null = null;

  /** `foot` is asked for what is to stand below after each change; null where nothing is. */
  constructor(terminal: Terminal, foot: (isLineOpen: boolean) => Foot | null) {
    this.#terminal = terminal;
    this.#foot = foot;
  }

  get columns(): number {
    return Math.max(20, this.#terminal.columns || 80);
  }

  get rows(): number {
    return Math.max(5, this.#terminal.rows || 24);
  }

  /** More text, and what stands below it drawn again. */
  write(text: string): void {
    const erased = this.#erased();
    this.#advance(text);
    this.#terminal.write(`${HIDE}${erased}${text.replaceAll("\n", "\r\n")}${this.#drawing()}${SHOW}`);
  }

  redraw(): void {
    this.write("");
  }

  /** Nothing stands below any more, and the next line is a new one. */
  end(): void {
    this.#terminal.write(`${this.#erased()}${this.#column > 0 ? "\r\n" : ""}`);
    this.#column = 0;
  }

  /** The cursor goes to where the next text goes, and what was drawn below it goes. */
  #erased(): string {
    const drawn = this.#drawn;
    this.#drawn = null;
    if (drawn === null) return "";
    const top = drawn.cursor.row > 0 ? `\u001b[${drawn.cursor.row}A` : "";
    // An open line stands above what is erased, unless it fills its row: then it goes on where the foot stood.
    const back = this.#column > 0 && this.#column < this.columns ? `\u001b[A\u001b[${this.#column + 1}G` : "";
    return `\r${top}${CLEAR_BELOW}${back}`;
  }

  #drawing(): string {
    const foot = this.#foot(this.#column > 0);
    if (foot === null || foot.rows.length === 0) return "";
    this.#drawn = foot;
    const up = foot.rows.length - 1 - foot.cursor.row;
    const begin = this.#column > 0 ? "\r\n" : "";
    return `${begin}${foot.rows.join("\r\n")}${up > 0 ? `\u001b[${up}A` : ""}\u001b[${foot.cursor.column + 1}G`;
  }

  #advance(text: string): void {
    for (let at = 0; at < text.length;) {
      STYLE.lastIndex = at;
      const style = STYLE.exec(text)?.[0];
      if (style !== undefined) {
        at += style.length;
        continue;
      }
      const character = String.fromCodePoint(text.codePointAt(at)!);
      at += character.length;
      if (character === "\n") this.#column = 0;
      else if (character === "\t") this.#column = Math.min(this.columns, (Math.floor(this.#column / 8) + 1) * 8);
      else {
        const wide = width(character);
        this.#column = this.#column + wide > this.columns ? wide : this.#column + wide;
      }
    }
  }
}

/** A text in rows no wider than that, each but the first behind an indent; and where its first part ends. */
export function rowsOf(prompt: string, before: string, after: string, columns: number): Foot {
  const rows = [prompt];
  let cursor = { row: 0, column: width(prompt) };
  const room = columns - 1;
  let column = cursor.column;
  const indent = " ".repeat(Math.min(width(prompt), 2));
  const put = (character: string) => {
    if (character === "\n" || column + width(character) > room) {
      rows.push(indent);
      column = indent.length;
    }
    if (character === "\n") return;
    rows[rows.length - 1] += character === "\t" ? " " : character;
    column += character === "\t" ? 1 : width(character);
  };
  for (const character of before) put(character);
  cursor = { row: rows.length - 1, column };
  for (const character of after) put(character);
  return { rows, cursor };
}
