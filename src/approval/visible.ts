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

/** What a person is shown for a character, where that depends on nothing around it; emptied when it is large. */
const known = new Map<string, string>();
const KNOWN_MAX = 10_000;

function shown(word: string): string {
  // A word in letters of another script is itself; among Latin ones, or made of look-alikes only, such letters mislead.
  const isMixed = /[A-Za-z]/.test(word) || !/\p{L}/u.test(word.replace(LOOKALIKES, ""));
  let before = "";
  let out = "";
  for (const char of word) {
    out += known.get(isMixed ? char : ` ${char}`) ?? judged(char, before, isMixed);
    before = char;
  }
  return out;
}

function judged(char: string, before: string, isMixed: boolean): string {
  const text = misleads(char, before, isMixed) ? `⟨${named(char)}⟩` : char;
  if (NEIGHBOURLY.test(char)) return text;
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(isMixed ? char : ` ${char}`, text);
  return text;
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
const LOOKALIKES = /[аАВсСеЕНіІїЇјЈКМоОрРѕЅТуУхХһԁԛԜԝӏӀΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανρυιγκωϲϳաոսօսց\u0131\u0237\u0251\u0261\u026A\u1D00-\u1D2B]/gu;
const LOOKALIKE = new RegExp(LOOKALIKES.source, "u");
