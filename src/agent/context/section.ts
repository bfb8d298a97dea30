// One part of what a process is told at the start of a run, and files as parts.

/** `leftOut` is given for one that was not read because there is no room for it: its size, or null where nobody looked. */
export type ContextFile = { name: string; text: string; leftOut?: number | null };

/** `cut` counts the bytes that were left out of it for want of room. */
export type Section = { name: string; text: string; cut: number };

/** Names of what is left out take room as well. */
const NAMED_MAX = 20;

export function section(name: string, text: string): Section[] {
  const trimmed = text.trim();
  return trimmed === "" ? [] : [{ name: oneLine(name), text: trimmed, cut: 0 }];
}

/** In the order of their names, which is how people order them: 00-, 10-, 20-. */
export function lexical(files: readonly ContextFile[]): ContextFile[] {
  return files.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * Files in order until the next would not fit. What is left out is named, with the place to read it: a process that does not know
 * that something is missing cannot ask for it.
 */
export function budgeted(source: string, files: readonly ContextFile[], maxBytes: number, folder: string): Section[] {
  const sections: Section[] = [];
  const left: { name: string; bytes: number | null }[] = [];
  let used = 0;
  for (const { name, text, leftOut } of lexical(files)) {
    if (leftOut !== undefined) {
      left.push({ name: oneLine(name), bytes: leftOut });
      continue;
    }
    const bytes = byteLength(text.trim());
    if (bytes === 0) continue;
    if (left.length > 0 || used + bytes > maxBytes) {
      left.push({ name: oneLine(name), bytes });
      continue;
    }
    used += bytes;
    sections.push(...section(`${source}:${name}`, text));
  }
  if (left.length === 0) return sections;
  const names = left.slice(0, NAMED_MAX).map(({ name, bytes }) => (bytes === null ? `- ${name}` : `- ${name} (${bytes} bytes)`));
  if (left.length > NAMED_MAX) names.push(`- and ${left.length - NAMED_MAX} more`);
  const text = `Not shown here for want of room, to be read in ${folder} when needed:\n${names.join("\n")}`;
  return [...sections, { name: `${source}:(left out)`, text, cut: left.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) }];
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** For values that others chose: they stay in their line, whatever is in them. */
export function oneLine(text: string, maxChars = 300): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
