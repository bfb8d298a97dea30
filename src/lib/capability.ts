// Capability patterns: "*", "sys.*" (any depth below), or one exact name.

const PATTERN = /^(?:\*|[a-z][a-z0-9]*(?:\.[a-z][a-z0-9_]*)*\.(?:[a-z][a-z0-9_]*|\*))$/;

export function isCapabilityPattern(text: string): boolean {
  return text.length <= 128 && PATTERN.test(text);
}

export function matches(pattern: string, name: string): boolean {
  if (pattern === "*" || pattern === name) return true;
  return pattern.endsWith(".*") && name.startsWith(pattern.slice(0, -1));
}

export function allows(patterns: readonly string[], name: string): boolean {
  for (const pattern of patterns) if (matches(pattern, name)) return true;
  return false;
}

/** Whether they allow every call, including future ones. */
export function allowsAll(patterns: readonly string[]): boolean {
  return patterns.includes("*");
}

/** Whether `wide` allows everything that `narrow` allows. */
export function covers(wide: readonly string[], narrow: readonly string[]): boolean {
  return narrow.every((pattern) =>
    wide.some((have) => have === "*" || have === pattern || (have.endsWith(".*") && pattern.startsWith(have.slice(0, -1)))),
  );
}
