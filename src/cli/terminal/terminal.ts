// Everything that is written to the terminal. Text from a gateway is not trusted: whatever a terminal could take for a
// command is escaped here, at the one way out, and colours are added after that. Results go to stdout, remarks to stderr.
// Only files' names and contents go unchanged into a pipe, where another program wants them as they are.

export function say(text: string): void {
  process.stdout.write(`${printable(text, "\n")}\n`);
}

/** One line, whatever is in it: what a gateway says of a failure must not look like two remarks, one of them ours. */
export function note(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

export function sayJson(value: unknown): void {
  process.stdout.write(`${jsonText(value)}\n`);
}

/** A line that others may want to process: as it is into a pipe, harmless on a terminal. */
export function sayLine(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? printable(text, "\t") : text}\n`);
}

/** A file's content, likewise; bytes are for pipes only. Resolves when there is room for more. */
export async function pour(content: string | Uint8Array): Promise<void> {
  const safe = typeof content === "string" && process.stdout.isTTY ? printable(content, "\n\t") : content;
  if (!process.stdout.write(safe)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

export type Mark = "ok" | "warn" | "fail";

/** One result of a check, with its mark in colour. */
export function sayMark(mark: Mark, text: string): void {
  process.stdout.write(`${paint(mark.padEnd(4), MARK_COLOURS[mark])}  ${printable(text)}\n`);
}

export type DiffLine = "head" | "hunk" | "add" | "delete" | "context";

/** A line of a diff, in the colours people know; into a pipe as it is. */
export function sayDiff(kind: DiffLine, text: string): void {
  const colour = DIFF_COLOURS[kind];
  const safe = process.stdout.isTTY ? printable(text, "\t") : text;
  process.stdout.write(`${colour === null ? safe : paint(safe, colour)}\n`);
}

/** Rows in aligned columns below their titles. */
export function sayTable(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  if (rows.length === 0) return note("(none)");
  const cells = rows.map((row) => row.map((cell) => printable(String(cell))));
  const widths = titles.map((title, at) => Math.max(width(title), ...cells.map((row) => width(row[at] ?? ""))));
  const line = (row: readonly string[]) => row.map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - width(cell))).join("  ");
  process.stdout.write(`${paint(line(titles).trimEnd(), BOLD)}\n`);
  for (const row of cells) process.stdout.write(`${line(row).trimEnd()}\n`);
}

/** Names and values, one pair a line. */
export function sayFields(fields: readonly (readonly [string, string])[]): void {
  const longest = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) process.stdout.write(`${paint(name.padEnd(longest), DIM)}  ${printable(value)}\n`);
}

/** Makes control, direction and other invisible characters visible; joiners stay, since emoji are built with them. */
export function printable(text: string, keep = ""): string {
  return text.replace(UNSAFE, (character) => (keep.includes(character) ? character : escaped(character)));
}

/** JSON that is as safe to look at as it is to parse: JSON itself lets C1 controls and direction marks through. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return text.replace(UNSAFE, (character) =>
    character === "\n" ? character : Array.from({ length: character.length }, (_, at) => unit(character.charCodeAt(at))).join(""),
  );
}

const UNSAFE = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const WIDE = /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Emoji_Presentation}|[\uff01-\uff60]/u;
const NO_WIDTH = /\p{Mn}|\p{Me}|\u200c|\u200d/u;
const BOLD = 1;
const DIM = 2;
const DIFF_COLOURS: Record<DiffLine, number | null> = { head: BOLD, hunk: 36, add: 32, delete: 31, context: null };
const MARK_COLOURS: Record<Mark, number> = { ok: 32, warn: 33, fail: 31 };

/** Whether stdout is somebody's screen, and one that may be painted on. */
export function hasColours(): boolean {
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY && (NO_COLOR === undefined || NO_COLOR === "") && TERM !== "dumb";
}

function paint(text: string, colour: number): string {
  return hasColours() ? `\u001b[${colour}m${text}\u001b[0m` : text;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Columns a text takes up, well enough for tables. */
export function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}
