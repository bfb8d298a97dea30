// Everything that is written to the terminal. Text from a gateway is not trusted: anything that a terminal could interpret as a
// command is escaped here, in one place, and colours are added after that. Results go to stdout, remarks to stderr. Names and
// contents of files are piped unchanged, because other programs need the exact bytes. Sentences are wrapped at the terminal's width;
// values, commands to copy and whatever goes to a pipe are not.

import { displayWidth } from "./display-width.ts";
import { wrapLines, wrapText } from "./wrap.ts";

export function printText(text: string): void {
  process.stdout.write(`${escapeControls(text, "\n")}\n`);
}

/** Sentences, as a result. */
export function printSentences(text: string): void {
  process.stdout.write(`${fitTo(process.stdout, escapeControls(text, "\n"))}\n`);
}

/**
 * Always one paragraph, indented where it is wrapped: an error message of a gateway must not look like two remarks, one of them
 * ours.
 */
export function printNote(text: string): void {
  process.stderr.write(`${fitTo(process.stderr, escapeControls(text), 2)}\n`);
}

/** A command to copy, on one line as long as it is. */
export function printCommand(text: string): void {
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

/** Rows in aligned columns below their titles. At a terminal, columns of words are narrowed until the rows fit. */
export function printTable(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  if (rows.length === 0) return printNote("(none)");
  const cells = rows.map((row) => titles.map((_, at) => escapeControls(String(row[at] ?? ""))));
  const widths = fitColumns([titles, ...cells], columnsOf(process.stdout));
  const print = (row: readonly string[], isTitle: boolean) => {
    const wrapped = row.map((cell, at) => (displayWidth(cell) <= widths[at]! ? [cell] : wrapLines(cell, widths[at]!)));
    for (let line = 0; line < Math.max(...wrapped.map(({ length }) => length)); line++) {
      const text = wrapped.map((lines, at) => padTo(lines[line] ?? "", widths[at]!)).join(GAP);
      process.stdout.write(`${isTitle ? paint(text.trimEnd(), BOLD) : text.trimEnd()}\n`);
    }
  };
  print(titles, true);
  for (const row of cells) print(row, false);
}

/** Names and values, one pair per line. */
export function printFields(fields: readonly (readonly [string, string])[]): void {
  const longest = Math.max(...fields.map(([name]) => name.length));
  const indent = longest + GAP.length;
  for (const [name, value] of fields) {
    const [first = "", ...others] = wrapLines(escapeControls(value), columnsOf(process.stdout) - indent);
    process.stdout.write(`${paint(name.padEnd(longest), DIM)}${GAP}${first}\n`);
    for (const other of others) process.stdout.write(`${" ".repeat(indent)}${other}\n`);
  }
}

/** The width of a terminal; a pipe has none. */
export function columnsOf(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? stream.columns || 80 : Infinity;
}

function fitTo(stream: NodeJS.WriteStream, text: string, indent = 0): string {
  const columns = columnsOf(stream);
  return columns === Infinity ? text : wrapText(text, columns, indent);
}

/** The width of each column. The widest is narrowed first, and none below its longest word, so that ids can be copied. */
function fitColumns(rows: readonly (readonly string[])[], columns: number): number[] {
  const widest = (measure: (cell: string) => number) => rows[0]!.map((_, at) => Math.max(...rows.map((row) => measure(row[at]!))));
  const widths = widest(displayWidth);
  const least = widest((cell) => Math.max(...cell.split(" ").map(displayWidth)));
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - columns;
  while (excess > 0) {
    const slack = widths.map((width, at) => (width > least[at]! ? width : 0));
    const at = slack.indexOf(Math.max(...slack));
    if (slack[at] === 0) break;
    widths[at]!--;
    excess--;
  }
  return widths;
}

function padTo(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - displayWidth(text)));
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
const GAP = "  ";
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
