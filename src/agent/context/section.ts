// A section of the context of a run, and how files become sections.

/** `leftOut` is set for a file that was not read for lack of room: its size, or null if that is unknown. */
export type ContextFile = { name: string; text: string; leftOut?: number | null };

/** `cut` counts the bytes that were left out for lack of room. */
export type Section = { name: string; text: string; cut: number };

/** The names of files that are left out take room as well. */
const NAMED_MAX = 20;

export function makeSectionUnlessEmpty(name: string, text: string): Section[] {
  const trimmed = text.trim();
  return trimmed === "" ? [] : [{ name: toOneLine(name), text: trimmed, cut: 0 }];
}

/** Sorted by name, because people order them so: 00-, 10-, 20-. */
export function sortByName(files: readonly ContextFile[]): ContextFile[] {
  return files.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * Files in order until one does not fit. The rest is named, with the folder to read it in: a process that does not know that
 * something is missing cannot ask for it.
 */
export function makeSectionsWithinSize(source: string, files: readonly ContextFile[], maxBytes: number, folder: string): Section[] {
  const sections: Section[] = [];
  const omitted: { name: string; bytes: number | null }[] = [];
  let used = 0;
  for (const { name, text, leftOut } of sortByName(files)) {
    if (leftOut !== undefined) {
      omitted.push({ name: toOneLine(name), bytes: leftOut });
      continue;
    }
    const bytes = byteLength(text.trim());
    if (bytes === 0) continue;
    if (omitted.length > 0 || used + bytes > maxBytes) {
      omitted.push({ name: toOneLine(name), bytes });
      continue;
    }
    used += bytes;
    sections.push(...makeSectionUnlessEmpty(`${source}:${name}`, text));
  }
  if (omitted.length === 0) return sections;
  const names = omitted.slice(0, NAMED_MAX).map(({ name, bytes }) => (bytes === null ? `- ${name}` : `- ${name} (${bytes} bytes)`));
  if (omitted.length > NAMED_MAX) names.push(`- and ${omitted.length - NAMED_MAX} more`);
  const text = `Not shown here to save room; read them in ${folder} when needed:\n${names.join("\n")}`;
  return [...sections, { name: `${source}:(left out)`, text, cut: omitted.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) }];
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** For values that others chose: whatever they contain, they stay on one line. */
export function toOneLine(text: string, maxChars = 300): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
