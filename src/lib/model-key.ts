// Finds the key of a model provider in what a person typed, so that it goes into the key field instead of a message.

/** Stands for the key in the message. */
export const KEY_ENTERED = "[key entered in the form]";

export type ModelKey = { key: string; /** Null if several providers write their keys like this. */ provider: string | null };

/** The first that matches decides: `sk-ant-` is also `sk-`. */
const PREFIXES: readonly [prefix: RegExp, provider: string | null][] = [
  [/\bsk-ant-[\w-]{8,}/u, "anthropic"],
  [/\bsk-or-[\w-]{8,}/u, "openrouter"],
  [/\bsk-(?:proj|svcacct|admin)-[\w-]{8,}/u, "openai"],
  [/\bgsk_[\w-]{8,}/u, "groq"],
  [/\bxai-[\w-]{8,}/u, "xai"],
  [/\bAIza[\w-]{20,}/u, "google"],
  // OpenAI, DeepSeek and many model servers.
  [/\bsk-[\w-]{8,}/u, null],
];
/** "my API key is abc123", whatever it looks like. */
const NAMED = /\b(?:api|access|provider)[ _-]?key(?:\s+is|\s+will be|\s*[:=])\s*["'`]?([\w.+/=-]{6,})/iu;

export function findModelKey(text: string): ModelKey | null {
  for (const [prefix, provider] of PREFIXES) {
    const key = prefix.exec(text)?.[0];
    if (key !== undefined) return { key, provider };
  }
  const key = NAMED.exec(text)?.[1];
  return key === undefined || key.length > 4_096 ? null : { key, provider: null };
}
