/** The arguments of a call with the beginning of those that are long, for people to look at. */
export function shortenArgs(args: Readonly<Record<string, unknown>>, charsMax: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, shortenArg(value, charsMax)]));
}

function shortenArg(value: unknown, charsMax: number): unknown {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length <= charsMax ? value : shortenText(text, charsMax);
}

/** Never half a character. */
export function shortenText(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
