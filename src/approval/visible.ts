// Text of others, made so that what a person sees is what is there: nothing moves the cursor, changes the direction, is
// invisible, or passes for another character. What is written so can be read back: `⟨U+202E⟩` is that one character.

/** Line ends stay, as the only way to show several lines; whoever shows them marks each line as the text's own. */
export function visible(text: string): string {
  return text.replace(WORD, (word) => (PLAIN.test(word) ? word : shown(word))).replace(GAPS, gap);
}

const PLAIN = /^[\x21-\x7e]*$/;
const WORD = /[^ \n]+/g;
/** Blanks that push something out of sight, or that nobody sees at the end of a line. */
const GAPS = / {9,}| +(?=\n|$)|\n{4,}/g;

function gap(blanks: string): string {
  const many = blanks.length;
  if (blanks.startsWith("\n")) return `\n⟨${many - 1} empty lines⟩\n`;
  return `⟨${many} ${many === 1 ? "space" : "spaces"}⟩`;
}

/**
 * What was found of each character so far, among Latin letters and not: nothing, that it misleads or that it does not. It is asked of
 * every character of long texts, and takes long to find.
 */
const FOUND = [new Uint8Array(0x110000), new Uint8Array(0x110000)] as const;
const [MISLEADS, IS_ITSELF] = [1, 2];

function shown(word: string): string {
  // A word in letters of another script is itself; among Latin ones, or made of look-alikes only, such letters mislead.
  const isMixed = /[A-Za-z]/.test(word) || !OWN_LETTER.test(word);
  let before = "";
  let out = "";
  for (const char of word) {
    out += misleadsThere(char, before, isMixed) ? `⟨${named(char)}⟩` : char;
    before = char;
  }
  return out;
}

function misleadsThere(char: string, before: string, isMixed: boolean): boolean {
  const found = FOUND[isMixed ? 0 : 1];
  const code = char.codePointAt(0)!;
  if (found[code] !== 0) return found[code] === MISLEADS;
  const isWrong = misleads(char, before, isMixed);
  if (!NEIGHBOURLY.test(char)) found[code] = isWrong ? MISLEADS : IS_ITSELF;
  return isWrong;
}

/** What is judged by the character before it. */
const NEIGHBOURLY = /[–—\p{M}]/u;

function misleads(char: string, before: string, isMixed: boolean): boolean {
  if (PLAIN.test(char)) return false;
  if (UNSEEN.test(char) || char === "⟨" || char === "⟩") return true;
  // Full-width, mathematical and other forms of plain characters.
  if (char !== "…" && PLAIN.test(char.normalize("NFKC"))) return true;
  if (PUNCTUATION.test(char)) return true;
  // A dash where an option begins.
  if (/[–—]/.test(char)) return before === "";
  // A mark on something that takes none.
  if (/\p{M}/u.test(char)) return !/[\p{L}\p{M}]/u.test(before);
  return isMixed && (FOREIGN.test(char) || LOOKALIKE.test(char));
}

function named(char: string): string {
  return `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Controls, directions, zero widths, other blanks, halves of characters, what fonts have no picture for. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/u;
const PUNCTUATION =
  /[\u01C0\u01C3\u02D0\u02D7\u0589\u05C3\u2010-\u2012\u2015-\u2017\u201A\u2039\u203A\u2043\u2044\u2212\u2215\u2216\u2223\u2236\u223C\u2758\u2768-\u2775\u27CB\u27CD\u29F5\u29F8\u29F9\u3014\u3015\uA4FD\uA4FA\uA789\u{1D16D}]/u;
/** Letters of scripts that have Latin shapes, which are not meant to be read among Latin letters. */
const FOREIGN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\p{Script=Deseret}]/u;
const LOOKALIKE = /[аАВсСеЕНіІїЇјЈКМоОрРѕЅТуУхХһԁԛԜԝӏӀΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρυιγκωϲϳաոսօսց\u0131\u0237\u0251\u0261\u026A\u1D00-\u1D2B]/u;
const OWN_LETTER = new RegExp(`(?!${LOOKALIKE.source})\\p{L}`, "u");
