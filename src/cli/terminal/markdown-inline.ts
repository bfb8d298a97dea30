// Inline markdown within a line: code, bold, italic, links. While the line is incomplete, whatever is open at its end is held
// back.

import { type Style, applyStyle } from "./text-style.ts";
import { escapeControls } from "./terminal.ts";

export type InlineResult = { shown: string; rest: string };

type Span = { shown: string; length: number };

/** `before` is the last character shown; with `isEnd` nothing is held back. */
export function renderSpans(text: string, before: string, isEnd: boolean): InlineResult {
  let shown = "";
  let plain = "";
  const flush = () => {
    shown += escapeControls(plain, "\t");
    plain = "";
  };
  // A run that nothing closes is not searched for again, so that the time is linear in the length of the line.
  const unclosed = new Set<string>();
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const run = RUN.exec(rest)?.[0] ?? rest[0]!;
    const isText = unclosed.has(run) || !SPECIAL.has(run[0]!);
    const found = isText ? null : spanAt(rest, at === 0 ? before : text[at - 1]!, isEnd);
    if (found === "open" && !isEnd) break;
    if (found === null || found === "open") {
      if (found === "open" && RUN.test(run)) unclosed.add(run);
      // A run that opens nothing is text as a whole: its second half must not open anything either.
      plain += run;
      at += run.length;
      continue;
    }
    flush();
    shown += found.shown;
    at += found.length;
  }
  flush();
  return { shown, rest: text.slice(at) };
}

const RUN = /^(?:`+|\*+|_+|~+)/;
const SPECIAL = new Set(["`", "*", "_", "~", "[", "!", "\\"]);
const MARKS: Record<string, Style> = { "**": "bold", __: "bold", "*": "italic", _: "italic", "~~": "strike" };
const LINK = /^!?\[([^[\]]*)\]\(([^()\s]*)\)/;
/** Text that may become a link when more arrives. */
const LINK_BEGINNING = /^!?$|^!?\[[^[\]]*(?:\](?:\([^()\s]*)?)?$/;

/** The span that starts here; null if none does, "open" if that depends on more text. */
function spanAt(text: string, before: string, isEnd: boolean): Span | "open" | null {
  if (text.startsWith("\\")) return escapeSpan(text);
  if (text.startsWith("`")) return codeSpan(text, isEnd);
  if (text.startsWith("[") || text.startsWith("!")) return linkSpan(text);
  return emphasisSpan(text, before, isEnd);
}

function escapeSpan(text: string): Span | "open" | null {
  if (text.length === 1) return "open";
  return /^\\[!-/:-@[-`{-~]/.test(text) ? { shown: text[1]!, length: 2 } : null;
}

function codeSpan(text: string, isEnd: boolean): Span | "open" {
  const ticks = RUN.exec(text)![0];
  const close = new RegExp(`(?<!\`)${ticks}(?!\`)`).exec(text.slice(ticks.length));
  if (close === null) return "open";
  const content = text.slice(ticks.length, ticks.length + close.index);
  const length = content.length + 2 * ticks.length;
  // The next piece may start with another backtick, and then this one does not close.
  if (length === text.length && !isEnd) return "open";
  const inner = /^ .*\S.* $/.test(content) ? content.slice(1, -1) : content;
  return { shown: applyStyle(escapeControls(inner, "\t"), "cyan"), length };
}

function linkSpan(text: string): Span | "open" | null {
  const [whole, title = "", url = ""] = LINK.exec(text) ?? [];
  if (whole === undefined) return LINK_BEGINNING.test(text) ? "open" : null;
  const name = renderSpans(title, "", true).shown;
  const shown =
    title === "" || title === url
      ? applyStyle(escapeControls(url), "underline")
      : `${name} (${applyStyle(escapeControls(url), "underline")})`;
  return { shown, length: whole.length };
}

function emphasisSpan(text: string, before: string, isEnd: boolean): Span | "open" | null {
  const run = RUN.exec(text)![0];
  if (run.length === text.length) return "open";
  const style = MARKS[run] ?? (run === "***" ? "bold" : undefined);
  if (style === undefined || /\s/.test(text[run.length]!)) return null;
  // Underscores within names are not emphasis.
  if (run.startsWith("_") && /[\p{L}\p{N}]/u.test(before)) return null;
  const end = findClosing(text, run, isEnd);
  if (end === null) return "open";
  const inner = renderSpans(text.slice(run.length, end), "", true).shown;
  return { shown: applyStyle(run === "***" ? applyStyle(inner, "italic") : inner, style), length: end + run.length };
}

/** Where the run that starts the text is closed; null if it is not, or if more text may change that. */
function findClosing(text: string, run: string, isEnd: boolean): number | null {
  for (let at = run.length; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "`") {
      const span = codeSpan(text.slice(at), isEnd);
      if (span === "open" && !isEnd) return null;
      at += span === "open" ? RUN.exec(text.slice(at))![0].length - 1 : span.length - 1;
    } else if (text[at] === run[0]) {
      const found = RUN.exec(text.slice(at))![0];
      if (at + found.length === text.length && !isEnd) return null;
      const isWordEnd = !run.startsWith("_") || !/[\p{L}\p{N}]/u.test(text[at + found.length] ?? "");
      if (found === run && !/\s/.test(text[at - 1]!) && isWordEnd) return at;
      at += found.length - 1;
    }
  }
  return null;
}
