// The search of Find among entries that are known at once: every typed word must occur, and matches at the start of a word score
// higher.

type Named = { title: string; group: string; words?: string };

export function matchEntries<T extends Named>(entries: readonly T[], typed: string): T[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return entries
    .map((entry, at) => ({ entry, at, score: scoreEntry(entry, wanted) }))
    .filter(({ score }) => score !== null)
    .toSorted((a, b) => b.score! - a.score! || a.at - b.at)
    .map(({ entry }) => entry);
}

/** Null if a word does not occur. */
function scoreEntry({ title, group, words = "" }: Named, wanted: readonly string[]): number | null {
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
