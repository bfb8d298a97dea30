// Markdown, first step: parses a text into blocks, line by line and in one pass. Raw HTML is plain text. A block whose end has not
// arrived yet, because the answer is streaming, is parsed as far as it goes.

import { mathBlockAt } from "./math-spans.ts";

export type Align = "left" | "center" | "right" | null;
/** `source` is the text of the block: the same source gives the same block. */
export type Block = { source: string } & (
  | { type: "paragraph"; text: string }
  | { type: "heading"; level: number; text: string }
  | { type: "code"; language: string; text: string }
  | { type: "math"; tex: string }
  | { type: "quote"; text: string }
  | { type: "list"; start: number | null; items: ListItem[] }
  | { type: "table"; align: Align[]; head: string[]; rows: string[][] }
  | { type: "rule" }
);
export type ListItem = { text: string; isChecked: boolean | null };
type BlockContent = Block extends infer B ? (B extends Block ? Omit<B, "source"> : never) : never;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +|$)/;
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export function parseBlocks(text: string): Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at]!.trim() === "") {
      at += 1;
      continue;
    }
    const { block, end } = blockAt(lines, at);
    blocks.push({ ...block, source: lines.slice(at, end).join("\n") });
    at = end;
  }
  return blocks;
}

type ParsedBlock = { block: BlockContent; end: number };

function blockAt(lines: readonly string[], at: number): ParsedBlock {
  const line = lines[at]!;
  const fence = FENCE.exec(line);
  if (fence !== null) return codeAt(lines, at, fence[1]!, fence[2] ?? "");
  const heading = HEADING.exec(line);
  if (heading !== null) return { block: { type: "heading", level: heading[1]!.length, text: heading[2]! }, end: at + 1 };
  if (RULE.test(line)) return { block: { type: "rule" }, end: at + 1 };
  if (QUOTE.test(line)) return quoteAt(lines, at);
  const math = mathBlockAt(lines, at);
  if (math !== null) return { block: { type: "math", tex: math.tex }, end: math.end };
  if (ITEM.test(line)) return listAt(lines, at);
  if (startsTable(lines, at)) return tableAt(lines, at);
  return paragraphAt(lines, at);
}

function codeAt(lines: readonly string[], at: number, fence: string, language: string): ParsedBlock {
  const indent = /^ */.exec(lines[at]!)![0].length;
  const inside: string[] = [];
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end]!;
    const bare = line.trim();
    if (bare.length >= fence.length && bare === fence[0]!.repeat(bare.length)) {
      end += 1;
      break;
    }
    inside.push(line.slice(Math.min(indent, /^ */.exec(line)![0].length)));
  }
  return { block: { type: "code", language, text: inside.join("\n") }, end };
}

function quoteAt(lines: readonly string[], at: number): ParsedBlock {
  let end = at;
  while (end < lines.length && lines[end]!.trim() !== "" && (QUOTE.test(lines[end]!) || !startsBlock(lines, end))) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.replace(QUOTE, ""))
    .join("\n");
  return { block: { type: "quote", text }, end };
}

function listAt(lines: readonly string[], at: number): ParsedBlock {
  const first = ITEM.exec(lines[at]!)!;
  const kind = listKindOf(first[2]!);
  const items: ListItem[] = [];
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end]!);
    if (item === null || listKindOf(item[2]!) !== kind || RULE.test(lines[end]!)) break;
    const next = itemEnd(lines, end, item[0].length);
    items.push(parseItem(lines.slice(end, next), item[0].length));
    end = next;
    // Skip empty lines between two items, but not after the last.
    let after = end;
    while (after < lines.length && lines[after]!.trim() === "") after += 1;
    if (after < lines.length && listKindOf(ITEM.exec(lines[after]!)?.[2] ?? "") === kind) end = after;
  }
  return { block: { type: "list", start: kind === "1" ? Number.parseInt(first[2]!, 10) : null, items }, end };
}

/** Lines indented as far as the item's text belong to the item, and so do lines that continue its paragraph. */
function itemEnd(lines: readonly string[], at: number, indent: number): number {
  let end = at + 1;
  let isAfterGap = false;
  for (; end < lines.length; end += 1) {
    const line = lines[end]!;
    if (line.trim() === "") {
      isAfterGap = true;
      continue;
    }
    const depth = /^ */.exec(line)![0].length;
    const isInside = depth >= Math.min(indent, 4) || (depth >= 2 && indent > 2);
    if (!isInside && (isAfterGap || startsBlock(lines, end))) break;
    isAfterGap = false;
  }
  while (lines[end - 1]!.trim() === "") end -= 1;
  return end;
}

function parseItem(lines: readonly string[], indent: number): ListItem {
  const [first = "", ...rest] = lines;
  const text = [first.slice(Math.min(indent, first.length)), ...rest.map((line) => outdent(line, indent))].join("\n");
  const task = /^\[([ xX])\] +/.exec(text);
  return task === null ? { text, isChecked: null } : { text: text.slice(task[0].length), isChecked: task[1] !== " " };
}

function outdent(line: string, by: number): string {
  return line.slice(Math.min(by, /^ */.exec(line)![0].length));
}

/** The kind of a list: its bullet, or "1" for numbers. Another kind starts a new list. */
function listKindOf(sign: string): string {
  return /^\d/.test(sign) ? "1" : sign;
}

function startsTable(lines: readonly string[], at: number): boolean {
  const under = lines[at + 1];
  if (under === undefined || !lines[at]!.includes("|") || !TABLE_LINE.test(under)) return false;
  return splitCells(lines[at]!).length === splitCells(under).length;
}

function tableAt(lines: readonly string[], at: number): ParsedBlock {
  const head = splitCells(lines[at]!);
  const align = splitCells(lines[at + 1]!).map((cell): Align => {
    const [isLeft, isRight] = [cell.startsWith(":"), cell.endsWith(":")];
    return isLeft && isRight ? "center" : isRight ? "right" : isLeft ? "left" : null;
  });
  let end = at + 2;
  while (end < lines.length && lines[end]!.trim() !== "" && lines[end]!.includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map((line) => {
    const cells = splitCells(line);
    return head.map((_, column) => cells[column] ?? "");
  });
  return { block: { type: "table", align, head, rows }, end };
}

function splitCells(line: string): string[] {
  const bare = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return bare.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, "|"));
}

function paragraphAt(lines: readonly string[], at: number): ParsedBlock {
  let end = at + 1;
  while (end < lines.length && lines[end]!.trim() !== "" && !startsBlock(lines, end)) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join("\n");
  return { block: { type: "paragraph", text: text.trimEnd() }, end };
}

/** Whether a block starts here that may interrupt a paragraph without an empty line. */
function startsBlock(lines: readonly string[], at: number): boolean {
  const line = lines[at]!;
  return (
    FENCE.test(line) ||
    HEADING.test(line) ||
    RULE.test(line) ||
    QUOTE.test(line) ||
    ITEM.test(line) ||
    startsTable(lines, at) ||
    mathBlockAt(lines, at) !== null
  );
}
