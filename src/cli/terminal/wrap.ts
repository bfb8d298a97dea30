// Wraps text at the width of a terminal: at spaces, or between the wide characters of scripts without spaces. An address, a path,
// code in backticks and a gsv command stay on one line, so that they can be copied; what is longer than a line is left to the
// terminal.

import { displayWidth, isWide, mayBeginLine, splitCharacters } from "./display-width.ts";

/** Narrower than this, wrapping makes a text harder to read. */
const COLUMNS_MIN = 20;
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const STYLES = /\u001b\[[\d;]*m/g;
/** Code in backticks, or a command with its subcommand, options, placeholders, quoted words, paths and ids. */
const UNBROKEN =
  /`[^`\n]+`|(?:npx )?\bgsv(?: (?!and |or |to )[a-z][\w-]*){0,2}(?: (?:-{1,2}[\w-]*|[A-Z][A-Z_.]+|'[^'\n]*'|"[^"\n]*"|\S*[\d/:@]\S*))*/g;

/** Lines after the first of each paragraph are indented by its own indentation and `indent` more. */
export function wrapText(text: string, columns: number, indent = 0): string {
  if (columns < COLUMNS_MIN) return text;
  return text
    .split("\n")
    .map((line) => wrapParagraph(line, columns, indent))
    .join("\n");
}

/** One paragraph as lines without indentation. */
export function wrapLines(text: string, columns: number): string[] {
  const lines: string[] = [];
  let current = "";
  let width = 0;
  let gap = "";
  for (const part of splitParts(text, columns)) {
    if (part.startsWith(" ")) {
      gap = part;
      continue;
    }
    const partWidth = measure(part);
    if (current !== "" && width + gap.length + partWidth > columns) {
      lines.push(current);
      [current, width, gap] = ["", 0, ""];
    }
    current += gap + part;
    width += gap.length + partWidth;
    gap = "";
  }
  return [...lines, current];
}

function wrapParagraph(line: string, columns: number, indent: number): string {
  if (measure(line) <= columns) return line;
  const own = /^ */.exec(line)![0];
  const text = line.slice(own.length);
  const [first = ""] = wrapLines(text, columns - own.length);
  const rest = text.slice(first.length).trimStart();
  const margin = own + " ".repeat(indent);
  const others = rest === "" ? [] : wrapLines(rest, columns - margin.length);
  return [own + first, ...others.map((other) => margin + other)].join("\n");
}

/** Spaces, and the parts between them that are kept together. */
function splitParts(text: string, columns: number): string[] {
  const chunks: string[] = [];
  const add = (part: string) => {
    if (part.startsWith(" ") || chunks.at(-1)?.startsWith(" ") !== false) chunks.push(part);
    else chunks.push(chunks.pop()! + part);
  };
  let at = 0;
  for (const { 0: match, index } of text.matchAll(UNBROKEN)) {
    if (measure(match) > columns) continue;
    for (const part of text.slice(at, index).match(/ +|[^ ]+/g) ?? []) add(part);
    add(match);
    at = index + match.length;
  }
  for (const part of text.slice(at).match(/ +|[^ ]+/g) ?? []) add(part);
  return chunks.flatMap(splitBesideWide);
}

function splitBesideWide(chunk: string): string[] {
  if (!isWide(chunk)) return [chunk];
  const parts: string[] = [];
  let mayBreak = true;
  for (const character of splitCharacters(chunk)) {
    const isWideNow = isWide(character);
    if ((mayBreak || isWideNow) && mayBeginLine(character)) parts.push(character);
    else parts.push((parts.pop() ?? "") + character);
    mayBreak = isWideNow;
  }
  return parts;
}

function measure(text: string): number {
  return displayWidth(text.includes("\u001b") ? text.replace(STYLES, "") : text);
}
