// Which actions are meant by what somebody typed: every word must be found, and a word's beginning counts more than its
// middle.

import type { Action } from "./actions.ts";

export function matching(actions: readonly Action[], typed: string): Action[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return actions
    .map((action, at) => ({ action, at, score: score(action, wanted) }))
    .filter(({ score }) => score !== null)
    .toSorted((a, b) => b.score! - a.score! || a.at - b.at)
    .map(({ action }) => action);
}

/** Null where a word is not there at all. */
function score({ title, group, words = "" }: Action, wanted: readonly string[]): number | null {
  const near = title.toLowerCase();
  const far = `${group} ${words}`.toLowerCase();
  let sum = 0;
  for (const word of wanted) {
    const points = near.startsWith(word) ? 4 : near.includes(` ${word}`) ? 3 : near.includes(word) ? 2 : far.includes(word) ? 1 : 0;
    if (points === 0) return null;
    sum += points;
  }
  return sum;
}
