// Finds known names that are similar to a mistyped one.

export function findSimilar(name: string, known: readonly string[]): string[] {
  const scored = known.map((candidate) => ({ candidate, score: distance(name, candidate) }));
  const last = name.slice(name.lastIndexOf(".") + 1);
  return scored
    .filter(({ candidate, score }) => score <= Math.max(2, name.length * 0.3) || (last.length > 2 && candidate.split(".").includes(last)))
    .sort((a, b) => a.score - b.score)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, change));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
