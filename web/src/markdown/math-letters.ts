// Letters of mathematical alphabets, such as \u211d for a double-struck R: browsers know them as characters, not as variants of letters.

/** Where each alphabet begins: capital letters, small letters, digits. */
const ALPHABETS: Readonly<Record<string, readonly [capital: number, small: number, digit: number | null]>> = {
  bold: [0x1d400, 0x1d41a, 0x1d7ce],
  "bold-italic": [0x1d468, 0x1d482, null],
  script: [0x1d49c, 0x1d4b6, null],
  fraktur: [0x1d504, 0x1d51e, null],
  "double-struck": [0x1d538, 0x1d552, 0x1d7d8],
  "sans-serif": [0x1d5a0, 0x1d5ba, 0x1d7e2],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6],
};
/** Characters that Unicode had before the alphabets. */
const EARLIER: Readonly<Record<string, string>> = {
  "script B": "\u212c",
  "script E": "\u2130",
  "script F": "\u2131",
  "script H": "\u210b",
  "script I": "\u2110",
  "script L": "\u2112",
  "script M": "\u2133",
  "script R": "\u211b",
  "script e": "\u212f",
  "script g": "\u210a",
  "script o": "\u2134",
  "fraktur C": "\u212d",
  "fraktur H": "\u210c",
  "fraktur I": "\u2111",
  "fraktur R": "\u211c",
  "fraktur Z": "\u2128",
  "double-struck C": "\u2102",
  "double-struck H": "\u210d",
  "double-struck N": "\u2115",
  "double-struck P": "\u2119",
  "double-struck Q": "\u211a",
  "double-struck R": "\u211d",
  "double-struck Z": "\u2124",
};

/** The text itself for a variant without an alphabet. */
export function mathLetters(text: string, variant: string): string {
  const alphabet = ALPHABETS[variant];
  if (alphabet === undefined) return text;
  return Array.from(text, (letter) => EARLIER[`${variant} ${letter}`] ?? shift(letter, alphabet)).join("");
}

function shift(letter: string, [capital, small, digit]: (typeof ALPHABETS)[string]): string {
  const code = letter.codePointAt(0)!;
  if (code >= 0x41 && code <= 0x5a) return String.fromCodePoint(capital + code - 0x41);
  if (code >= 0x61 && code <= 0x7a) return String.fromCodePoint(small + code - 0x61);
  return digit !== null && code >= 0x30 && code <= 0x39 ? String.fromCodePoint(digit + code - 0x30) : letter;
}
