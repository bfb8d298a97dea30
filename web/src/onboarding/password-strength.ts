// Estimates how well a password resists guessing: by what guessing programs try first, not only by the kinds of characters.

export type Strength = { level: 0 | 1 | 2 | 3; words: string };

const CHARS_MIN = 8;
const COMMON =
  /pass(wor[dt])?|qwert[yz]?|asdf|letmein|welcome|admin|login|iloveyou|dragon|monkey|master|abc123|football|secret|hallo|sunshine|princess|changeme/gi;
const SEQUENCE = /(.)\1{2,}|0123|1234|2345|3456|4567|5678|6789|abcd|(?:19|20)\d\d/gi;

export function rateStrength(password: string, username: string): Strength {
  const length = Array.from(password.trim()).length;
  if (length < CHARS_MIN)
    return {
      level: 0,
      words: length === 0 ? `At least ${CHARS_MIN} characters. A few unrelated words are best.` : `${CHARS_MIN - length} more to go.`,
    };
  const bits = estimateBits(password.trim(), username);
  if (bits < 36) return { level: 1, words: "Weak: easy to guess. Use a few unrelated words." };
  if (bits < 56) return { level: 2, words: "Fair. Make it longer if others can reach this gateway." };
  return { level: 3, words: "Strong." };
}

/** A common word or sequence counts as one character, however long it is. */
function estimateBits(password: string, username: string): number {
  let rest = password;
  if (username.length > 2) rest = rest.replaceAll(new RegExp(escapeRegExp(username), "gi"), "a");
  rest = rest.replaceAll(COMMON, "a").replaceAll(SEQUENCE, "1");
  const words = rest.split(/[^\p{L}]+/u).filter((word) => word.length > 2);
  const isWords = words.length >= 3 && words.join("").length > rest.length * 0.7;
  // Guessing programs try whole words: 13 bits for each.
  if (isWords) return words.length * 13 + (rest.length - words.join("").length);
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].filter((kind) => kind.test(rest)).length;
  const different = new Set(rest.toLowerCase()).size;
  return Math.min(rest.length, different * 1.6) * [0, 3.4, 4, 4.6, 5][kinds]!;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
