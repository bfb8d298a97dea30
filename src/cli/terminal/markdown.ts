// Renders markdown to a terminal, piece by piece as a model writes it. Nothing shown is ever redrawn: a line whose kind is known
// is shown up to the first open span, any other when it is complete. Text of a model is not trusted: control characters are
// escaped.

import { displayWidth } from "./display-width.ts";
import { LineWrap } from "./line-wrap.ts";
import { type OutputMode, applyStyle } from "./text-style.ts";
import { renderSpans } from "./markdown-inline.ts";
import { escapeControls } from "./terminal.ts";
import { wrapLines } from "./wrap.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}>\s?/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(?=\S)/;
const ROW = /^\s*\|/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
/** The start of a line that can only be text. */
const TEXT = /^ {0,3}(?:[^\s#`~|>*+\-_\d]|[*_]{1,2}[^*_\s]|`{1,2}[^`]|\d+[^\d.)]|\d+[.)]\S)/;
/** A character that may combine with the next piece. */
const INCOMPLETE = /[\uD800-\uDBFF\r]$/;
/** A span that stays open for longer than this is shown as text. */
const OPEN_CHARS_MAX = 1_000;
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const STYLES = /\u001b\[\d+m/g;

export class Markdown {
  readonly #look: OutputMode;
  #heldBack = "";
  /** The part of the current line that is not shown yet, and whether its kind is known. */
  #line = "";
  #isText = false;
  /** The last character shown of it: whether an underscore opens a span depends on it. */
  #before = "";
  #fence: string | null = null;
  #rows: string[] = [];
  readonly #columns: () => number;
  /** Of the current line, if it is text; code and tables keep their lines. */
  readonly #wrap: LineWrap;

  constructor(look: OutputMode, columns: () => number = () => Infinity) {
    this.#look = look;
    this.#columns = columns;
    this.#wrap = new LineWrap(columns);
  }

  push(delta: string): string {
    if (this.#look === "raw") return delta;
    const all = this.#heldBack + delta;
    this.#heldBack = INCOMPLETE.exec(all)?.[0] ?? "";
    const text = all.slice(0, all.length - this.#heldBack.length).replaceAll("\r\n", "\n");
    return this.#look === "plain" ? escapeControls(text, "\n\t") : this.#render(text);
  }

  /** Ends the text and returns what was held back. */
  end(): string {
    const rest = this.#heldBack;
    this.#heldBack = "";
    if (this.#look !== "styled") return escapeControls(rest);
    const shown = this.#render(rest) + (this.#line === "" && !this.#isText ? "" : this.#close()) + this.#renderTable();
    this.#fence = null;
    return shown;
  }

  #render(text: string): string {
    const [first = "", ...others] = text.split("\n");
    let shown = this.#extend(first);
    for (const line of others) shown += this.#endLine() + this.#extend(line);
    return shown;
  }

  /** Adds to the current line and returns what can be shown already. */
  #extend(text: string): string {
    this.#line += text;
    if (this.#fence !== null || this.#line === "") return "";
    let shown = "";
    if (!this.#isText) {
      const item = ITEM.exec(this.#line);
      if (item !== null && !RULE.test(this.#line) && !/^\s*[-*_][\s\-*_]*$/.test(this.#line)) {
        shown = this.#renderTable() + this.#wrap.begin(renderListMarker(item));
        this.#line = this.#line.slice(item[0].length);
      } else if (TEXT.test(this.#line)) shown = this.#renderTable();
      else return "";
      this.#isText = true;
    }
    return shown + this.#wrap.push(this.#renderSpans(false));
  }

  #renderSpans(isEnd: boolean): string {
    const { shown, rest } = renderSpans(this.#line, this.#before, isEnd || this.#line.length > OPEN_CHARS_MAX);
    this.#before = this.#line.slice(0, this.#line.length - rest.length).at(-1) ?? this.#before;
    this.#line = rest;
    return shown;
  }

  #endLine(): string {
    if (!this.#isText && this.#fence === null && ROW.test(this.#line)) {
      this.#rows.push(this.#line);
      this.#line = "";
      return "";
    }
    const isFence = FENCE.test(this.#line) && !this.#isText;
    const shown = this.#close();
    // A fence takes a line only if it names a language.
    return isFence && shown === "" ? "" : `${shown}\n`;
  }

  /** The rest of the current line, without its line break. */
  #close(): string {
    const isText = this.#isText;
    const line = this.#line;
    const shown = isText ? this.#wrap.push(this.#renderSpans(true)) + this.#wrap.end() : this.#renderBlock(line);
    this.#line = "";
    this.#before = "";
    this.#isText = false;
    return shown;
  }

  #renderBlock(line: string): string {
    const [, fence, language = ""] = FENCE.exec(line) ?? [];
    if (this.#fence !== null) {
      if (fence === undefined || language !== "" || !fence.startsWith(this.#fence)) return applyStyle(escapeControls(line, "\t"), "cyan");
      this.#fence = null;
      return "";
    }
    const table = this.#renderTable();
    if (fence !== undefined) {
      this.#fence = fence;
      return table + applyStyle(escapeControls(language.trim()), "dim");
    }
    const [, level, title = ""] = HEADING.exec(line) ?? [];
    if (level !== undefined)
      return (
        table + this.#wrapped(applyStyle(level.length === 1 ? applyStyle(renderInline(title), "underline") : renderInline(title), "bold"))
      );
    if (RULE.test(line)) return table + applyStyle("─".repeat(24), "dim");
    const quote = QUOTE.exec(line)?.[0];
    if (quote !== undefined) return table + wrapQuote(renderInline(line.slice(quote.length)), this.#columns());
    return table + this.#wrapped(renderInline(line));
  }

  #wrapped(text: string): string {
    return this.#wrap.push(text) + this.#wrap.end();
  }

  /** Renders the collected rows, now that all are known, each with a line break. */
  #renderTable(): string {
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length === 0) return "";
    if (!DIVIDER.test(rows[1] ?? "")) return rows.map((row) => `${renderInline(row)}\n`).join("");
    const cells = rows.filter((_, at) => at !== 1).map((row) => cellsOf(row).map(renderInline));
    const widths = cells.reduce<number[]>((widest, row) => pairwiseMax(widest, row.map(cellWidth)), []);
    const lines = cells.map((row) => row.map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - cellWidth(cell))).join("  "));
    return lines.map((line, at) => `${at === 0 ? applyStyle(line.trimEnd(), "bold") : line.trimEnd()}\n`).join("");
  }
}

function wrapQuote(text: string, columns: number): string {
  const bar = applyStyle("│ ", "dim");
  return wrapLines(text, columns - 2)
    .map((line) => bar + line)
    .join("\n");
}

function renderListMarker([, indent = "", mark = ""]: RegExpExecArray): string {
  const spaces = indent.replaceAll("\t", "  ").slice(0, 40);
  return `${escapeControls(spaces)}${/\d/.test(mark) ? mark : "•"} `;
}

function renderInline(text: string): string {
  return renderSpans(text, "", true).shown;
}

function cellsOf(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function cellWidth(cell: string): number {
  return displayWidth(cell.replace(STYLES, ""));
}

function pairwiseMax(some: readonly number[], others: readonly number[]): number[] {
  const length = Math.max(some.length, others.length);
  return Array.from({ length }, (_, at) => Math.max(some[at] ?? 0, others[at] ?? 0));
}
