// Everything that is written to the terminal. Text from a gateway is not trusted: anything that a terminal could interpret as a
// command is escaped here, in one place, and colours are added after that. Results go to stdout, remarks to stderr. Names and
// contents of files are piped unchanged, because other programs need the exact bytes.

export function printText(text: string): void {
  process.stdout.write(`${escapeControls(text, "\n")}\n`);
}

/** Always one line: an error message of a gateway must not look like two remarks, one of them ours. */
export function printNote(text: string): void {
  process.stderr.write(`${escapeControls(text)}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${jsonText(value)}\n`);
}

/** A line that other programs may process: unchanged in a pipe, escaped on a terminal. */
export function printDataLine(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? escapeControls(text, "\t") : text}\n`);
}

/** Writes the content of a file, escaped on a terminal. Bytes are never escaped, so pass them only to a pipe. Resolves when there is room for more. */
export async function writeContent(content: string | Uint8Array): Promise<void> {
  const safe = typeof content === "string" && process.stdout.isTTY ? escapeControls(content, "\n\t") : content;
  if (!process.stdout.write(safe)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

export type Mark = "ok" | "warn" | "fail";

/** One result of a check, with its mark in colour. */
export function printMark(mark: Mark, text: string): void {
  process.stdout.write(`${paint(mark.padEnd(4), MARK_COLOURS[mark])}  ${escapeControls(text)}\n`);
}

export type DiffLineKind = "head" | "hunk" | "add" | "delete" | "context";

/** A line of a diff, in the usual colours; unchanged in a pipe. */
export function printDiffLine(kind: DiffLineKind, text: string): void {
  const colour = DIFF_COLOURS[kind];
  const safe = process.stdout.isTTY ? escapeControls(text, "\t") : text;
  process.stdout.write(`${colour === null ? safe : paint(safe, colour)}\n`);
}

/** Rows in aligned columns below their titles. */
export function printTable(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  if (rows.length === 0) return printNote("(none)");
  const cells = rows.map((row) => row.map((cell) => escapeControls(String(cell))));
  const widths = titles.map((title, at) => Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[at] ?? ""))));
  const line = (row: readonly string[]) => row.map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - displayWidth(cell))).join("  ");
  process.stdout.write(`${paint(line(titles).trimEnd(), BOLD)}\n`);
  for (const row of cells) process.stdout.write(`${line(row).trimEnd()}\n`);
}

/** Names and values, one pair per line. */
export function printFields(fields: readonly (readonly [string, string])[]): void {
  const longest = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) process.stdout.write(`${paint(name.padEnd(longest), DIM)}  ${escapeControls(value)}\n`);
}

/** Escapes control, direction and other invisible characters; joiners stay, because emoji need them. */
export function escapeControls(text: string, keep = ""): string {
  return text.replace(UNSAFE, (character) => (keep.includes(character) ? character : escapeCharacter(character)));
}

/** JSON that is safe to show: JSON.stringify does not escape C1 controls and direction marks. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return text.replace(UNSAFE, (character) =>
    character === "\n" ? character : Array.from({ length: character.length }, (_, at) => escapeUnit(character.charCodeAt(at))).join(""),
  );
}

const UNSAFE = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const WIDE = /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Emoji_Presentation}|[\uff01-\uff60]/u;
const NO_WIDTH = /\p{Mn}|\p{Me}|\u200c|\u200d/u;
const BOLD = 1;
const DIM = 2;
const DIFF_COLOURS: Record<DiffLineKind, number | null> = { head: BOLD, hunk: 36, add: 32, delete: 31, context: null };
const MARK_COLOURS: Record<Mark, number> = { ok: 32, warn: 33, fail: 31 };

/** Whether stdout is a terminal that may have colours. */
export function hasColours(): boolean {
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY && (NO_COLOR === undefined || NO_COLOR === "") && TERM !== "dumb";
}

function paint(text: string, colour: number): string {
  return hasColours() ? `\u001b[${colour}m${text}\u001b[0m` : text;
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

function escapeUnit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** The columns that a text takes, accurate enough for tables. */
export function displayWidth(text: string): number {
  let columns = 0;
  for (const character of text) columns += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}
