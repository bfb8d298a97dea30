// Finds known names that are similar to a mistyped one.

import { editDistance } from "../../lib/edit-distance.ts";

export function findSimilar(name: string, known: readonly string[]): string[] {
  const scored = known.map((candidate) => ({ candidate, score: editDistance(name, candidate) }));
  const last = name.slice(name.lastIndexOf(".") + 1);
  return scored
    .filter(({ candidate, score }) => score <= Math.max(2, name.length * 0.3) || (last.length > 2 && candidate.split(".").includes(last)))
    .sort((a, b) => a.score - b.score)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
