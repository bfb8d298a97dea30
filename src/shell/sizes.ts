// Parses numbers of bytes such as 512, 4K or 1MB.

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  c: 1,
  w: 2,
  b: 512,
  k: 1024,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  T: 1024 ** 4,
  kB: 1000,
  KB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
  TB: 1000 ** 4,
};

/** Null if the text is not a size. */
export function parseSize(text: string): number | null {
  const [, count, unit = ""] = /^(\d+)([a-zA-Z]*?)(?:iB)?$/.exec(text) ?? [];
  const factor = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  return count === undefined || factor === undefined ? null : Number(count) * factor;
}
