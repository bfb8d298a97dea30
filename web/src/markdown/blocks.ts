// Markdown, first step: a text into blocks, by its lines and in one pass. Raw HTML is text like any other. A block that was
// begun and has no end yet, because it is still coming, is shown as far as it is there.

export type Align = "left" | "center" | "right" | null;
/** `source` is what it was made of: the same source is the same block. */
export type Block = { source: string } & (
  | { type: "paragraph"; text: string }
  | { type: "heading"; level: number; text: string }
  | { type: "code"; language: string; text: string }
  | { type: "quote"; text: string }
  | { type: "list"; start: number | null; items: ListItem[] }
  | { type: "table"; align: Align[]; head: string[]; rows: string[][] }
  | { type: "rule" }
);
export type ListItem = { text: string; isChecked: boolean | null };
type Bare = Block extends infer B ? (B extends Block ? Omit<B, "source"> : never) : never;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +|$)/;
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export function blocksOf(text: string): Block[] {
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

type Found = { block: Bare; end: number };

function blockAt(lines: readonly string[], at: number): Found {
  const line = lines[at]!;
  const fence = FENCE.exec(line);
  if (fence !== null) return code(lines, at, fence[1]!, fence[2] ?? "");
  const heading = HEADING.exec(line);
  if (heading !== null) return { block: { type: "heading", level: heading[1]!.length, text: heading[2]! }, end: at + 1 };
  if (RULE.test(line)) return { block: { type: "rule" }, end: at + 1 };
  if (QUOTE.test(line)) return quote(lines, at);
  if (ITEM.test(line)) return list(lines, at);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at);
}

function code(lines: readonly string[], at: number, fence: string, language: string): Found {
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

function quote(lines: readonly string[], at: number): Found {
  let end = at;
  while (end < lines.length && lines[end]!.trim() !== "" && (QUOTE.test(lines[end]!) || !beginsBlock(lines, end))) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.replace(QUOTE, ""))
    .join("\n");
  return { block: { type: "quote", text }, end };
}

function list(lines: readonly string[], at: number): Found {
  const first = ITEM.exec(lines[at]!)!;
  const kind = kindOf(first[2]!);
  const items: ListItem[] = [];
  let end = at;
  while (end < lines.length) {
    const item = ITEM.exec(lines[end]!);
    if (item === null || kindOf(item[2]!) !== kind || RULE.test(lines[end]!)) break;
    const next = itemEnd(lines, end, item[0].length);
    items.push(itemOf(lines.slice(end, next), item[0].length));
    end = next;
    // An empty line between two items, and not after the last.
    let after = end;
    while (after < lines.length && lines[after]!.trim() === "") after += 1;
    if (after < lines.length && kindOf(ITEM.exec(lines[after]!)?.[2] ?? "") === kind) end = after;
  }
  return { block: { type: "list", start: kind === "1" ? Number.parseInt(first[2]!, 10) : null, items }, end };
}

/** Lines that stand as far in as the item's text belong to it, and so do those that only go on with its paragraph. */
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
    if (!isInside && (isAfterGap || beginsBlock(lines, end))) break;
    isAfterGap = false;
  }
  while (lines[end - 1]!.trim() === "") end -= 1;
  return end;
}

function itemOf(lines: readonly string[], indent: number): ListItem {
  const [first = "", ...rest] = lines;
  const text = [first.slice(Math.min(indent, first.length)), ...rest.map((line) => outdented(line, indent))].join("\n");
  const task = /^\[([ xX])\] +/.exec(text);
  return task === null ? { text, isChecked: null } : { text: text.slice(task[0].length), isChecked: task[1] !== " " };
}

function outdented(line: string, by: number): string {
  return line.slice(Math.min(by, /^ */.exec(line)![0].length));
}

/** What parts one list from the next: its sign, or that it counts. */
function kindOf(sign: string): string {
  return /^\d/.test(sign) ? "1" : sign;
}

function isTable(lines: readonly string[], at: number): boolean {
  const under = lines[at + 1];
  if (under === undefined || !lines[at]!.includes("|") || !TABLE_LINE.test(under)) return false;
  return cellsOf(lines[at]!).length === cellsOf(under).length;
}

function table(lines: readonly string[], at: number): Found {
  const head = cellsOf(lines[at]!);
  const align = cellsOf(lines[at + 1]!).map((cell): Align => {
    const [isLeft, isRight] = [cell.startsWith(":"), cell.endsWith(":")];
    return isLeft && isRight ? "center" : isRight ? "right" : isLeft ? "left" : null;
  });
  let end = at + 2;
  while (end < lines.length && lines[end]!.trim() !== "" && lines[end]!.includes("|")) end += 1;
  const rows = lines.slice(at + 2, end).map((line) => {
    const cells = cellsOf(line);
    return head.map((_, column) => cells[column] ?? "");
  });
  return { block: { type: "table", align, head, rows }, end };
}

function cellsOf(line: string): string[] {
  const bare = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return bare.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, "|"));
}

function paragraph(lines: readonly string[], at: number): Found {
  let end = at + 1;
  while (end < lines.length && lines[end]!.trim() !== "" && !beginsBlock(lines, end)) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join("\n");
  return { block: { type: "paragraph", text: text.trimEnd() }, end };
}

/** What may end a paragraph without an empty line before it. */
function beginsBlock(lines: readonly string[], at: number): boolean {
  const line = lines[at]!;
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line) || isTable(lines, at);
}
