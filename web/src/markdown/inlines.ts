// Markdown, second step: parses the inline elements of a block. Links lead only to the web and to mail. Images become links, so
// that showing an answer causes no requests.

import { mathSpanAt } from "./math-spans.ts";

export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "break" }
  | { type: "math"; tex: string; isDisplay: boolean }
  | { type: "strong" | "em" | "del"; children: Inline[] }
  | { type: "link"; href: string; children: Inline[] };

/** Limits on how far the end of an element is searched, and how deep elements may be nested. */
const SCAN_CHARS = 2_000;
const MARK_SCAN_CHARS = 1_000;
const DEPTH_MAX = 8;
const SPECIAL = /[\\`*_~[!<\n$]|https?:\/\//g;
const MARKS: [string, "strong" | "em" | "del"][] = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "del"],
  ["*", "em"],
  ["_", "em"],
];

export function parseInlines(text: string, depth = 0): Inline[] {
  const inlines: Inline[] = [];
  let at = 0;
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(text)?.index;
    if (next === undefined || depth > DEPTH_MAX) {
      appendText(inlines, text.slice(at));
      break;
    }
    appendText(inlines, text.slice(at, next));
    at = next;
    const one = specialInlineAt(text, at, depth);
    if (one === null) {
      appendText(inlines, text[at]!);
      at += 1;
    } else {
      if (one.inline.type === "text") appendText(inlines, one.inline.text);
      else inlines.push(one.inline);
      at = one.end;
    }
  }
  return inlines;
}

/** The normalized URL if its scheme is allowed; otherwise null. */
export function safeHref(address: string): string | null {
  try {
    const { protocol, href } = new URL(address.trim());
    return protocol === "https:" || protocol === "http:" || protocol === "mailto:" ? href : null;
  } catch {
    return null;
  }
}

function appendText(found: Inline[], text: string): void {
  if (text === "") return;
  const last = found.at(-1);
  if (last?.type === "text") last.text += text;
  else found.push({ type: "text", text });
}

type ParsedInline = { inline: Inline; end: number };

function specialInlineAt(text: string, at: number, depth: number): ParsedInline | null {
  switch (text[at]) {
    case "\\":
      return formulaAt(text, at) ?? escapeAt(text, at);
    case "$":
      return formulaAt(text, at);
    case "\n":
      return { inline: { type: "break" }, end: at + 1 };
    case "`":
      return codeAt(text, at);
    case "!":
      return text[at + 1] === "[" ? linkAt(text, at + 1, depth) : null;
    case "[":
      return linkAt(text, at, depth);
    case "<":
      return autolinkAt(text, at);
    case "h":
      return urlAt(text, at);
    default:
      return emphasisAt(text, at, depth);
  }
}

function formulaAt(text: string, at: number): ParsedInline | null {
  const span = mathSpanAt(text, at);
  return span === null ? null : { inline: { type: "math", tex: span.tex, isDisplay: span.isDisplay }, end: span.end };
}

function escapeAt(text: string, at: number): ParsedInline | null {
  const next = text[at + 1];
  if (next === "\n") return { inline: { type: "break" }, end: at + 2 };
  if (next === undefined || !/[!-/:-@[-`{-~]/.test(next)) return null;
  return { inline: { type: "text", text: next }, end: at + 2 };
}

function codeAt(text: string, at: number): ParsedInline | null {
  const fence = /^`+/.exec(text.slice(at, at + SCAN_CHARS))![0];
  const reach = text.slice(at + fence.length, at + SCAN_CHARS);
  const end = new RegExp(`(?<!\`)${fence}(?!\`)`).exec(reach);
  if (end === null) return { inline: { type: "text", text: fence }, end: at + fence.length };
  const inside = reach.slice(0, end.index).replaceAll("\n", " ");
  const bare = /^ .*[^ ].* $/.test(inside) ? inside.slice(1, -1) : inside;
  return { inline: { type: "code", text: bare }, end: at + fence.length + end.index + fence.length };
}

function linkAt(text: string, at: number, depth: number): ParsedInline | null {
  const close = findClosing(text, at, "[", "]");
  if (close === null || text[close + 1] !== "(") return null;
  const end = findClosing(text, close + 1, "(", ")");
  if (end === null) return null;
  const words = text.slice(at + 1, close);
  const address = text
    .slice(close + 2, end)
    .trim()
    .replace(/\s+(?:"[^"]*"|'[^']*')$/, "")
    .replace(/^<(.*)>$/, "$1");
  const href = safeHref(address);
  const children = parseInlines(words === "" ? address : words, depth + 1);
  if (href === null) return { inline: { type: "text", text: words === "" ? address : `${words} (${address})` }, end: end + 1 };
  return { inline: { type: "link", href, children: removeLinks(children) }, end: end + 1 };
}

/** The position of the bracket that closes the one at `at`. */
function findClosing(text: string, at: number, open: string, close: string): number | null {
  let level = 0;
  for (let end = at; end < Math.min(text.length, at + SCAN_CHARS); end += 1) {
    const sign = text[end];
    if (sign === "\\") end += 1;
    else if (sign === open) level += 1;
    else if (sign === close && --level === 0) return end;
  }
  return null;
}

function autolinkAt(text: string, at: number): ParsedInline | null {
  const found = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/.exec(text.slice(at, at + SCAN_CHARS));
  const href = found === null ? null : safeHref(found[1]!);
  return href === null
    ? null
    : { inline: { type: "link", href, children: [{ type: "text", text: found![1]! }] }, end: at + found![0].length };
}

/** A bare URL, without the punctuation that ends the sentence. */
function urlAt(text: string, at: number): ParsedInline | null {
  if (/[\w/]$/.test(text.slice(Math.max(0, at - 1), at))) return null;
  const [found] = /^https?:\/\/[^\s<>`"']+/.exec(text.slice(at, at + SCAN_CHARS)) ?? [];
  if (found === undefined) return null;
  let bare = found.replace(/[.,:;!?*_~\]]+$/, "");
  if (bare.endsWith(")") && bare.split("(").length < bare.split(")").length) bare = bare.slice(0, -1);
  const href = safeHref(bare);
  return href === null ? null : { inline: { type: "link", href, children: [{ type: "text", text: bare }] }, end: at + bare.length };
}

function emphasisAt(text: string, at: number, depth: number): ParsedInline | null {
  for (const [mark, type] of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const end = findMarkEnd(text, at, mark);
    if (end === null) continue;
    const children = parseInlines(text.slice(at + mark.length, end), depth + 1);
    return { inline: { type, children }, end: end + mark.length };
  }
  const run = /^(?:\*+|_+|~+)/.exec(text.slice(at, at + 200))?.[0] ?? text[at]!;
  return { inline: { type: "text", text: run }, end: at + run.length };
}

/** Emphasis starts before a non-space and ends after one; an underscore inside a word does not count. */
function findMarkEnd(text: string, at: number, mark: string): number | null {
  const from = at + mark.length;
  const isWordCharacter = (sign: string | undefined) => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);
  if (text[from] === undefined || /\s/.test(text[from])) return null;
  if (mark[0] === "_" && isWordCharacter(text[at - 1])) return null;
  for (let end = from + 1; end < Math.min(text.length, at + MARK_SCAN_CHARS); end += 1) {
    const formula = text[end] === "$" || text[end] === "\\" ? mathSpanAt(text, end) : null;
    if (formula !== null) end = formula.end - 1;
    else if (text[end] === "\\") end += 1;
    else if (text[end] === "`") {
      const code = codeAt(text, end);
      if (code !== null) end = code.end - 1;
    } else if (text.startsWith(mark, end) && !/\s/.test(text[end - 1]!)) {
      const isLonger = mark.length === 1 && text[end + 1] === mark;
      if (isLonger) {
        // Skip strong emphasis inside.
        const inner = findMarkEnd(text, end, mark + mark);
        end = inner === null ? end + 1 : inner + 1;
        continue;
      }
      if (mark[0] === "_" && isWordCharacter(text[end + mark.length])) continue;
      return end;
    }
  }
  return null;
}

function removeLinks(children: readonly Inline[]): Inline[] {
  return children.flatMap((child) => (child.type === "link" ? child.children : [child]));
}
