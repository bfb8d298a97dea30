// The columns that a text takes on a terminal: wide characters of East Asia and emoji take two, combining marks none. Terminals
// differ in details; this is what recent ones do.

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Marks, joiners, and the vowels and finals of Korean syllables that are written in parts. */
const NO_WIDTH = /\p{Mn}|\p{Me}|[\u200b-\u200d\u1160-\u11ff]/u;
/** A flag, a sequence of emoji, or a symbol that is shown as an emoji. */
const EMOJI_SEQUENCE = /^(?:\p{RI}\p{RI}|\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;
const CLOSING = /^[\u3001\u3002\u300d\u300f\u3011\u3015\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff3d\uff5d]/;

let segmenter: Intl.Segmenter | null = null;

/** The characters as people see them: a flag or a letter with its marks is one. */
export function splitCharacters(text: string): Iterable<string> {
  if (PRINTABLE_ASCII.test(text)) return text;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Of a text without control characters. */
export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  let columns = 0;
  for (const character of splitCharacters(text)) columns += characterWidth(character);
  return columns;
}

export function isWide(character: string): boolean {
  return WIDE.test(character);
}

/** Closing punctuation of East Asia may not. */
export function mayBeginLine(character: string): boolean {
  return !CLOSING.test(character);
}

function characterWidth(character: string): number {
  if (EMOJI_SEQUENCE.test(character)) return 2;
  let columns = 0;
  for (const part of character) columns += NO_WIDTH.test(part) ? 0 : WIDE.test(part) ? 2 : 1;
  return columns;
}
