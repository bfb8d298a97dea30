// The search of the palette: every typed word must occur in an action, and matches at the start of a word score higher.

import type { Action } from "./actions.ts";

export function matchActions(actions: readonly Action[], typed: string): Action[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return actions
    .map((action, at) => ({ action, at, score: scoreAction(action, wanted) }))
    .filter(({ score }) => score !== null)
    .toSorted((a, b) => b.score! - a.score! || a.at - b.at)
    .map(({ action }) => action);
}

/** Null if a word does not occur. */
function scoreAction({ title, group, words = "" }: Action, wanted: readonly string[]): number | null {
  const titleText = title.toLowerCase();
  const otherText = `${group} ${words}`.toLowerCase();
  let sum = 0;
  for (const word of wanted) {
    const points = titleText.startsWith(word)
      ? 4
      : titleText.includes(` ${word}`)
        ? 3
        : titleText.includes(word)
          ? 2
          : otherText.includes(word)
            ? 1
            : 0;
    if (points === 0) return null;
    sum += points;
  }
  return sum;
}
