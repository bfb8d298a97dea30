// The difference between two texts as hunks of lines. The work is bounded: if the shortest difference would take too long to
// find, the whole differing middle is shown as replaced, which is longer but still correct.

import { diffArrays } from "diff";

export type HunkLine = { tag: "context" | "add" | "delete" | "binary"; content: string };
export type Hunk = { oldStart: number; oldCount: number; newStart: number; newCount: number; lines: HunkLine[] };

/** Lines `oldFrom..oldTo` of the old text became `newFrom..newTo` of the new one; counted from 0, ends excluded. */
type Change = { oldFrom: number; oldTo: number; newFrom: number; newTo: number };

/** The time per file grows with the square of this. */
const EDITS_MAX = 2000;
const LINES_MAX = 100_000;
const TIMEOUT_MS = 500;

/** What is left for all files of one answer, in squared edits. It is counted because on some hosts the clock stands still. */
export type DiffWork = { left: number };

export function newDiffWork(): DiffWork {
  return { left: 3 * EDITS_MAX ** 2 };
}

export function textHunks(
  before: string,
  after: string,
  context: number,
  budget: DiffWork = newDiffWork(),
): { hunks: Hunk[]; additions: number; deletions: number } {
  const old = linesOf(before);
  const now = linesOf(after);
  const changes = changesOf(old, now, budget);
  let additions = 0;
  let deletions = 0;
  for (const change of changes) {
    additions += change.newTo - change.newFrom;
    deletions += change.oldTo - change.oldFrom;
  }
  return { hunks: groupChanges(changes, context).map((nearby) => buildHunk(nearby, old, now, context)), additions, deletions };
}

/** Lines keep their newline, so that a missing newline at the end of a file is a difference. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function changesOf(old: string[], now: string[], budget: DiffWork): Change[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const whole = { oldFrom: start, oldTo: old.length - end, newFrom: start, newTo: now.length - end };
  if (whole.oldFrom === whole.oldTo && whole.newFrom === whole.newTo) return [];
  if (whole.oldFrom === whole.oldTo || whole.newFrom === whole.newTo) return [whole];
  if (whole.oldTo - start > LINES_MAX || whole.newTo - start > LINES_MAX) return [whole];
  const maxEditLength = Math.min(EDITS_MAX, Math.floor(Math.sqrt(Math.max(0, budget.left))));
  const parts = diffArrays(old.slice(start, whole.oldTo), now.slice(start, whole.newTo), { maxEditLength, timeout: TIMEOUT_MS });
  const edits = parts?.reduce((sum, { added, removed, value }) => sum + (added || removed ? value.length : 0), 0) ?? maxEditLength;
  budget.left -= edits ** 2;
  if (parts === undefined) return [whole];

  const changes: Change[] = [];
  let oldAt = start;
  let newAt = start;
  let open: Change | undefined;
  for (const part of parts) {
    if (part.added || part.removed) {
      if (open === undefined) changes.push((open = { oldFrom: oldAt, oldTo: oldAt, newFrom: newAt, newTo: newAt }));
      if (part.removed) open.oldTo = oldAt += part.value.length;
      else open.newTo = newAt += part.value.length;
    } else {
      open = undefined;
      oldAt += part.value.length;
      newAt += part.value.length;
    }
  }
  return changes;
}

/** Groups changes whose context lines would touch into one hunk. */
function groupChanges(changes: readonly Change[], context: number): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.oldFrom - last.oldTo <= context * 2) groups.at(-1)!.push(change);
    else groups.push([change]);
  }
  return groups;
}

function buildHunk(changes: readonly Change[], old: readonly string[], now: readonly string[], context: number): Hunk {
  const first = changes[0]!;
  const last = changes.at(-1)!;
  const before = Math.min(context, first.oldFrom);
  const oldFrom = first.oldFrom - before;
  const newFrom = first.newFrom - before;
  const oldTo = Math.min(old.length, last.oldTo + context);
  const lines: HunkLine[] = [];
  let at = oldFrom;
  for (const change of changes) {
    for (; at < change.oldFrom; at++) lines.push({ tag: "context", content: stripNewline(old[at]!) });
    for (; at < change.oldTo; at++) lines.push({ tag: "delete", content: stripNewline(old[at]!) });
    for (let i = change.newFrom; i < change.newTo; i++) lines.push({ tag: "add", content: stripNewline(now[i]!) });
  }
  for (; at < oldTo; at++) lines.push({ tag: "context", content: stripNewline(old[at]!) });
  const oldCount = oldTo - oldFrom;
  const newCount = last.newTo + (oldTo - last.oldTo) - newFrom;
  // As in a patch, a side without lines gives the number of the line before it.
  return { oldStart: oldCount === 0 ? oldFrom : oldFrom + 1, oldCount, newStart: newCount === 0 ? newFrom : newFrom + 1, newCount, lines };
}

function stripNewline(line: string): string {
  return line.endsWith("\n") ? line.slice(0, -1) : line;
}
