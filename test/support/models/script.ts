// What a scripted model says, independent of the wire format.

export type Said =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; signature?: string }
  /** `args` is sent as it is, JSON or not; an id of null is left out. */
  | { type: "call"; id: string | null; name: string; args: string };

export type Script = {
  say: readonly Said[];
  usage?: { input: number; output: number; cacheRead?: number };
  stop?: "end" | "length";
};

export const USAGE = { input: 100, output: 20, cacheRead: 40 };

export function isCalling(script: Script): boolean {
  return script.say.some(({ type }) => type === "call");
}

/** Splits text into pieces as a model streams tokens, never inside a code point. */
export function pieces(text: string, size = 16): string[] {
  const letters = Array.from(text);
  const found: string[] = [];
  for (let at = 0; at < letters.length; at += size) found.push(letters.slice(at, at + size).join(""));
  return found.length === 0 ? [""] : found;
}

export function sse(data: unknown, event?: string): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}
