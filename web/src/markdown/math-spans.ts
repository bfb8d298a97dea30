// Finds formulas in Markdown: $...$, $$...$$, \(...\) and \[...\]. Prices are not formulas: a dollar sign opens one only before a
// non-space, and closes one only after a non-space and before anything but a letter or digit. Pure functions.

export type MathSpan = { tex: string; isDisplay: boolean; end: number };

const INLINE_CHARS_MAX = 1_000;
const DISPLAY_CHARS_MAX = 4_000;
const DISPLAY_LINES_MAX = 100;
/** Words between spaces: prose between two dollar signs. */
const PROSE = /\s[a-z]{2,}\s/i;
/** What \( and \[ in prose rarely have between them. */
const MATH_SIGN = /[\\^_={}<>+\d]|^\s*[a-z]\s*$/i;

/** The formula that begins at `at`; null if there is none, or its end has not arrived yet. */
export function mathSpanAt(text: string, at: number): MathSpan | null {
  if (text.startsWith("$$", at)) return delimitedAt(text, at, "$$", "$$", true);
  if (text[at] === "$") return dollarAt(text, at);
  const opener = text.slice(at, at + 2);
  if (opener !== String.raw`\(` && opener !== String.raw`\[`) return null;
  const isDisplay = opener === String.raw`\[`;
  const span = delimitedAt(text, at, opener, isDisplay ? String.raw`\]` : String.raw`\)`, isDisplay);
  return span !== null && MATH_SIGN.test(span.tex) ? span : null;
}

/** A formula on lines of its own; `end` is the line after it. */
export function mathBlockAt(lines: readonly string[], at: number): { tex: string; end: number } | null {
  const [, opener, rest] = /^ {0,3}(\$\$|\\\[)(.*)$/.exec(lines[at]!) ?? [];
  if (opener === undefined) return null;
  const closer = opener === "$$" ? "$$" : String.raw`\]`;
  const inside: string[] = [];
  for (let end = at; end < Math.min(lines.length, at + DISPLAY_LINES_MAX); end += 1) {
    const line = (end === at ? rest! : lines[end]!).trimEnd();
    const closing = line.indexOf(closer);
    if (closing === -1) {
      inside.push(line);
      continue;
    }
    // A formula in the middle of a line is part of a paragraph.
    if (closing !== line.length - closer.length) return null;
    const tex = [...inside, line.slice(0, closing)].join("\n").trim();
    return tex === "" || tex.length > DISPLAY_CHARS_MAX ? null : { tex, end: end + 1 };
  }
  return null;
}

function dollarAt(text: string, at: number): MathSpan | null {
  if (/[\p{L}\p{N}$]/u.test(text[at - 1] ?? "") || /[\s$]/.test(text[at + 1] ?? " ")) return null;
  const limit = Math.min(text.length, at + INLINE_CHARS_MAX);
  for (let end = at + 1; end < limit; end += 1) {
    const sign = text[end];
    if (sign === "\\") end += 1;
    else if (sign === "`" || (sign === "\n" && text[end + 1] === "\n")) return null;
    else if (sign === "$") {
      if (/\s/.test(text[end - 1]!) || /[\p{L}\p{N}$]/u.test(text[end + 1] ?? "")) return null;
      const tex = text.slice(at + 1, end);
      return PROSE.test(tex.replaceAll(/\\[a-z]+\s*(?:\{[^{}]*\})?/gi, "")) ? null : { tex, isDisplay: false, end: end + 1 };
    }
  }
  return null;
}

function delimitedAt(text: string, at: number, opener: string, closer: string, isDisplay: boolean): MathSpan | null {
  const from = at + opener.length;
  const end = text.slice(from, from + INLINE_CHARS_MAX).indexOf(closer);
  const tex = end === -1 ? "" : text.slice(from, from + end).trim();
  return tex === "" ? null : { tex, isDisplay, end: from + end + closer.length };
}
