// The lines of two texts side by side, with the words that differ within lines that were changed. Texts may be long and made to be
// slow to compare: then everything counts as changed.

import { type ChangeObject, diffArrays, diffWordsWithSpace } from "diff";

export type DiffPart = { text: string; isChanged: boolean };
export type DiffLine = { kind: "same" | "gone" | "new"; parts: DiffPart[] } | { kind: "skipped"; count: number };

const TIMEOUT_MS = 200;
const EDITS_MAX = 2_000;
const WORDS_CHARS_MAX = 5_000;
/** Unchanged lines that are shown around a change. */
const CONTEXT = 3;

export function diffLines(before: string, after: string): DiffLine[] {
  const [old, fresh] = [toLines(before), toLines(after)];
  const blocks = diffArrays(old, fresh, { timeout: TIMEOUT_MS, maxEditLength: EDITS_MAX }) ?? [
    { value: old, removed: true, added: false },
    { value: fresh, removed: false, added: true },
  ];
  const lines: DiffLine[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at]!;
    const next = blocks[at + 1];
    if (block.removed && next?.added === true) {
      lines.push(...pairLines(block.value, next.value));
      at += 1;
    } else if (block.removed || block.added) lines.push(...block.value.map((text) => wholeLine(block.removed ? "gone" : "new", text)));
    else lines.push(...shortenContext(block.value, at === 0, at === blocks.length - 1));
  }
  return lines;
}

function toLines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

/** Each old line is compared with the new line in its place, word by word, if they have much in common. */
function pairLines(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const isShort = old.join().length + fresh.join().length <= WORDS_CHARS_MAX;
  const pairs = isShort ? old.slice(0, fresh.length).map((text, at) => compareWords(text, fresh[at]!)) : [];
  const side = (kind: "gone" | "new", lines: readonly string[]): DiffLine[] =>
    lines.map((text, at) => {
      const words = pairs[at] ?? null;
      if (words === null) return wholeLine(kind, text);
      const own = words.filter(({ added, removed }) => (kind === "gone" ? !added : !removed));
      return { kind, parts: own.map(({ value, added, removed }) => ({ text: value, isChanged: added || removed })) };
    });
  return [...side("gone", old), ...side("new", fresh)];
}

/** Null if less than half of the longer line is the same: marks would only confuse. */
function compareWords(before: string, after: string): ChangeObject<string>[] | null {
  const words = diffWordsWithSpace(before, after);
  const same = words.reduce((sum, { value, added, removed }) => (added || removed ? sum : sum + value.length), 0);
  return same * 2 >= Math.max(before.length, after.length) ? words : null;
}

function wholeLine(kind: "same" | "gone" | "new", text: string): DiffLine {
  return { kind, parts: [{ text, isChanged: false }] };
}

function shortenContext(lines: readonly string[], isFirst: boolean, isLast: boolean): DiffLine[] {
  const [head, tail] = [isFirst ? 0 : CONTEXT, isLast ? 0 : CONTEXT];
  const count = lines.length - head - tail;
  const same = (some: readonly string[]) => some.map((text) => wholeLine("same", text));
  if (count < 2) return same(lines);
  return [...same(lines.slice(0, head)), { kind: "skipped", count }, ...same(lines.slice(lines.length - tail))];
}
