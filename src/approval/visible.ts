// Makes untrusted text show what it contains: nothing moves the cursor, changes direction, is invisible or looks like another
// character. The result can be decoded: `⟨U+202E⟩` stands for that one character.

/** Line ends stay, to show several lines; the caller must mark each line as part of the text. */
export function makeVisible(text: string): string {
  return text.replace(WORD, (word) => (PLAIN.test(word) ? word : makeWordVisible(word))).replace(GAPS, describeGap);
}

const PLAIN = /^[\x21-\x7e]*$/;
const WORD = /[^ \n]+/g;
/** Spaces that push text out of sight, or that are invisible at the end of a line. */
const GAPS = / {9,}| +(?=\n|$)|\n{4,}/g;

/** Spaces or empty lines. */
export function describeGap(blanks: string): string {
  const many = blanks.length;
  if (blanks.startsWith("\n")) return `\n⟨${many - 1} empty lines⟩\n`;
  return `⟨${many} ${many === 1 ? "space" : "spaces"}⟩`;
}

/**
 * A cache of the verdict per character, for mixed words and for others: 0 for unknown, misleading or not. Every character of long
 * texts needs it, and computing it is slow.
 */
const VERDICTS = [new Uint8Array(0x110000), new Uint8Array(0x110000)] as const;
const [MISLEADS, IS_ITSELF] = [1, 2];

function makeWordVisible(word: string): string {
  // A word in letters of another script is shown as it is. Mixed with Latin letters, or made of look-alikes only, such letters
  // mislead.
  const isMixed = /[A-Za-z]/.test(word) || !OWN_LETTER.test(word);
  let before = "";
  let out = "";
  for (const char of word) {
    out += isMisleading(char, before, isMixed) ? `⟨${codePointName(char)}⟩` : char;
    before = char;
  }
  return out;
}

function isMisleading(char: string, before: string, isMixed: boolean): boolean {
  const verdicts = VERDICTS[isMixed ? 0 : 1];
  const code = char.codePointAt(0)!;
  if (verdicts[code] !== 0) return verdicts[code] === MISLEADS;
  const isWrong = isMisleadingUncached(char, before, isMixed);
  if (!CONTEXT_DEPENDENT.test(char)) verdicts[code] = isWrong ? MISLEADS : IS_ITSELF;
  return isWrong;
}

/** Characters whose verdict depends on the character before them. */
const CONTEXT_DEPENDENT = /[–—\p{M}]/u;

function isMisleadingUncached(char: string, before: string, isMixed: boolean): boolean {
  if (PLAIN.test(char)) return false;
  if (INVISIBLE.test(char) || char === "⟨" || char === "⟩") return true;
  // Full-width, mathematical and other forms of ASCII characters.
  if (char !== "…" && PLAIN.test(char.normalize("NFKC"))) return true;
  if (PUNCTUATION.test(char)) return true;
  // A dash that looks like the start of an option.
  if (/[–—]/.test(char)) return before === "";
  // A combining mark on a character that takes none.
  if (/\p{M}/u.test(char)) return !/[\p{L}\p{M}]/u.test(before);
  return isMixed && (FOREIGN.test(char) || LOOKALIKE.test(char));
}

function codePointName(char: string): string {
  return `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Control characters, direction marks, zero-width characters, other spaces, lone surrogates, code points without a glyph. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/u;
const PUNCTUATION =
  /[\u01C0\u01C3\u02D0\u02D7\u0589\u05C3\u2010-\u2012\u2015-\u2017\u201A\u2039\u203A\u2043\u2044\u2212\u2215\u2216\u2223\u2236\u223C\u2758\u2768-\u2775\u27CB\u27CD\u29F5\u29F8\u29F9\u3014\u3015\uA4FD\uA4FA\uA789\u{1D16D}]/u;
/** Scripts with letters shaped like Latin ones, which mislead among Latin letters. */
const FOREIGN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\p{Script=Deseret}]/u;
const LOOKALIKE = /[аАВсСеЕНіІїЇјЈКМоОрРѕЅТуУхХһԁԛԜԝӏӀΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρυιγκωϲϳաոսօսց\u0131\u0237\u0251\u0261\u026A\u1D00-\u1D2B]/u;
const OWN_LETTER = new RegExp(`(?!${LOOKALIKE.source})\\p{L}`, "u");
