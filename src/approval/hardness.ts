// An upper bound for the work that the parser of script.ts has with a text, computed in one pass. From every bracket, quote and
// dollar that parser looks ahead, at worst to the end of the text, while the kernel waits. The author of a command is untrusted,
// so a text that is too hard is not parsed at all. A step is about a nanosecond; hardness.test.ts and `npm run trust:approval`
// compare the bound with the parser.

/** The budget for all texts of one command together. */
export const STEPS_MAX = 6_000_000;

/** The steps for one text. Counting stops above `STEPS_MAX`; Infinity if the parser might never terminate. */
export function countParseSteps(text: string): number {
  return text.length > CHARS_MAX ? STEPS_MAX + 1 : new StepCounter(text).count();
}

/** A longer text is not judged by its words; a person sees it. */
const CHARS_MAX = 32 * 1024;

/** To parse, store and judge one word. */
const WORD_STEPS = 2_200;
const MARK_STEPS = 1_200;
/** One character of a word, and one character that is only copied. */
const CHAR_STEPS = 180;
const COPY_STEPS = 40;
/** One non-ASCII character, which is inspected once more to be shown. */
const FOREIGN_STEPS = 400;
/** One character skipped while the parser looks for the end of something. */
const LOOKAHEAD_STEPS = 12;

/** In each pattern only one alternative can match a given text, so that none is tried in vain. */
const NAME = String.raw`\$(?:[A-Za-z_]\w*(?!\w)|[0-9?#@*$!-])`;
const EXPANSION = String.raw`\$\{[#!]?\w+(?:\[[\w@*]*\])?(?:[:=?#%/^,@+-](?:[^{}'"\x60\\$\n]|${NAME})*)?\}`;
/** A command substitution on one line, with at most one more inside it. */
const commandPattern = (inner: string): string =>
  String.raw`\$\((?!\()(?:[^()'"\x60\\$#<\n]|<(?!<)|'[^'\n]*'|"(?:[^"\\$\x60\n]|${NAME}|${EXPANSION}${inner})*"|${NAME}|${EXPANSION}${inner})*\)`;
const COMMAND = commandPattern(`|${commandPattern("")}`);
const SUM = String.raw`\(\((?:[\w \t+*/%=!?:;,&|^~-]|<(?!<)|>|${NAME}|\$\{\w+\}|${commandPattern("")})*\)\)`;
const COMPUTED = String.raw`${NAME}|${EXPANSION}|\$${SUM}|${COMMAND}`;
const SINGLE = String.raw`'[^']*'|\$'(?:[^'\\]|\\[^])*'`;
const DOUBLE = String.raw`"(?:[^"\\$\x60]|\\[^]|\$(?=["\s.,/|)])|${COMPUTED})*"`;
const END = String.raw`(?=[ \t\n;&|<>)]|$)`;

/**
 * Text that the parser is certain to read as it looks, up to the ends of quotes. A bracket after a name and a brace make the
 * parser skip over quotes, so both are included only where no quote can follow.
 */
const PLAIN = new RegExp(
  [
    String.raw`(?<blank>[ \t]+|(?<=(?<!\\)[ \t;&|(])\\\n)`,
    String.raw`(?<line>\n)`,
    String.raw`(?<word>(?:[\w.,/:=%^~-]|[^\x00-\x7f]|\\[^\n]|[+@](?!\()|(?<=[\w./:%-])#)+)`,
    String.raw`(?<heredoc><<-?[ \t]*(?:(['"]?)([\w-]+)\5|\\[\w-]+)${END})`,
    // After an escaped blank or operator, or after a command substitution, `#` continues the word.
    String.raw`(?<comment>(?<=^|(?<!\\)[ \t\n;&|(])#[^\n]*)`,
    String.raw`(?<single>${SINGLE})`,
    String.raw`(?<made>${DOUBLE}|${COMPUTED}|${SUM})`,
    // Not after `=`: the parser reads `!=` as a word of its own and the rest as a comment.
    String.raw`(?<=[\w./:%-])#`,
    // In an array assignment the parser misses some adjacent quotes.
    String.raw`(?<list>(?<==)\((?:[\w.,/:%~ \t\n-]|'[^'$\x60\\\n]*'|"[^"$\x60\\\n]*")*\)|(?<=\w)\[[\w@*.^-]*\]|\{[\w.,/-]*\}${END}|\{(?=[ \t\n]|$))`,
    String.raw`(?<mark><<<|<(?!<)|&&|\|\||[;&|>)}\]!*?]|\((?!\()(?<![@*+?!=]\()|(?<!\w)\[)`,
  ].join("|"),
  "y",
);

class StepCounter {
  readonly #text: string;
  #steps = 0;
  #at = 0;
  /** Start of the part that the parser cannot look beyond, and its number of lookaheads in that part. */
  #start = 0;
  #lookaheads = 0;
  /** Number of `[:` and the like, each of which starts another lookahead. */
  #classes = 0;
  #heredoc: RegExpExecArray | null = null;
  #isWordStart = true;

  constructor(text: string) {
    this.#text = text;
  }

  count(): number {
    PLAIN.lastIndex = 0;
    while (this.#at < this.#text.length && this.#steps <= STEPS_MAX) {
      PLAIN.lastIndex = this.#at;
      const found = PLAIN.exec(this.#text);
      if (found === null) return this.#countRest();
      this.#at = PLAIN.lastIndex;
      if (!this.#countToken(found)) return this.#countRest();
    }
    this.#endPart(this.#at);
    return this.#steps;
  }

  /** Counts one token. Returns whether the text after it is still plain. */
  #countToken(found: RegExpExecArray): boolean {
    const { blank, word, heredoc, line, made, list, mark, single, comment } = found.groups!;
    const isCopied = single !== undefined || comment !== undefined || blank !== undefined;
    this.#steps += found[0].length * (isCopied ? COPY_STEPS : hasNonAscii(word) ? FOREIGN_STEPS : CHAR_STEPS);
    const isMark = line !== undefined || blank?.startsWith("\\") || /^[;&|<>()]/.test(mark ?? "");
    if (isMark) this.#steps += MARK_STEPS;
    else if (blank === undefined) this.#steps += WORD_STEPS;
    const wasStart = this.#isWordStart;
    this.#isWordStart = blank !== undefined || line !== undefined || /^[;&|]/.test(mark ?? "");
    // A comment cannot start inside a word, and a line end does not end the word.
    if (!wasStart && (comment !== undefined || blank?.startsWith("\\"))) return false;
    if (heredoc !== undefined) {
      // Parsers disagree about the ends of two here-documents on one line.
      if (this.#heredoc !== null) return false;
      this.#heredoc = found;
    }
    if (mark === "[") this.#lookaheads++;
    if (/^\[[:.=]/.test(this.#text.slice(found.index, found.index + 2))) this.#classes++;
    if (list !== undefined) this.#countComputed(list);
    if (made !== undefined) this.#countComputed(made);
    if (line === undefined) return true;
    this.#endPart(this.#at);
    const opened = this.#heredoc;
    this.#heredoc = null;
    return opened === null || this.#countHeredoc(opened);
  }

  /** The parser reads it again separately, and if it contains `((`, perhaps to the end of the text. */
  #countComputed(text: string): void {
    const lookaheads = countLookaheads(text, text.startsWith('"'));
    this.#lookaheads += lookaheads;
    this.#steps += lookaheads * (WORD_STEPS + text.length * LOOKAHEAD_STEPS);
    if (text.includes("((")) this.#steps += this.#text.length * LOOKAHEAD_STEPS;
  }

  #countHeredoc(opened: RegExpExecArray): boolean {
    const opening = opened[0];
    const isQuoted = /['"\\]/.test(opening);
    const end = heredocEnd(
      this.#text,
      this.#at,
      opening.replace(/^<<-?[ \t]*/, "").replace(/['"\\]/g, ""),
      opening.startsWith("<<-"),
      isQuoted,
    );
    if (end === null) return false;
    const body = this.#text.slice(this.#at, end);
    this.#at = end;
    this.#start = end;
    this.#steps += body.length * COPY_STEPS;
    if (isQuoted) return true;
    this.#steps += mayHangParser(body) ? Infinity : countLookaheads(body, true) * (WORD_STEPS + body.length * LOOKAHEAD_STEPS);
    return true;
  }

  #endPart(end: number): void {
    this.#steps += this.#lookaheads * (1 + this.#classes) * (end - this.#start) * LOOKAHEAD_STEPS;
    this.#start = end;
    this.#lookaheads = 0;
    this.#classes = 0;
  }

  /** From here on nothing is certain: every mark may start a lookahead to the end. */
  #countRest(): number {
    const rest = this.#text.slice(this.#start);
    if (mayHangParser(rest)) return Infinity;
    this.#steps += countLookaheads(rest, false) * (WORD_STEPS + rest.length * LOOKAHEAD_STEPS) + rest.length * CHAR_STEPS;
    return this.#steps;
  }
}

/**
 * The parser never terminates on some arithmetic and expansions, such as `$(($+1))` and `${a[`, and uses up all memory. Unless it
 * is certain which ones a text contains, no arithmetic is parsed, and only expansions with a regular start.
 */
function mayHangParser(text: string): boolean {
  // The parser removes some backslashes, and line ends after them, before it looks.
  return text.includes("\\") ? hasHangRisk(text) || hasHangRisk(text.replace(/\\+\n?/g, "")) : hasHangRisk(text);
}

function hasHangRisk(text: string): boolean {
  if (text.includes("((") || text.includes("$[")) return true;
  // Of `$"a"b` the parser drops the quotes and keeps the dollar.
  if (/\$"(?![\w ./-]*"[ \t\n;&|<>)])/.test(text)) return true;
  return /\$\{(?!(?:[#!]?\w+(?:\[[\w@*]*\])?|[?*@$-])(?:[}=?#%/^,@+-]|:[-=?+])|[#!][#?*@!$-]?\})/.test(text);
}

/** The number of lookaheads; one from a bracket may start another from `[:` and the like. */
function countLookaheads(text: string, isQuoted: boolean): number {
  let lookaheads = 0;
  let brackets = 0;
  let classes = 0;
  let wasBlank = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isBlank = code <= 0x20;
    if (isQuoted ? QUOTED.has(code) : !isWordCode(code) && !(isBlank && wasBlank)) lookaheads++;
    wasBlank = isBlank;
    if (code !== BRACKET) continue;
    brackets++;
    if (/[:.=]/.test(text[at + 1] ?? "")) classes++;
  }
  return lookaheads + brackets * classes;
}

const BRACKET = "[".charCodeAt(0);
/** Characters that start a lookahead in double quotes and here-documents; globs only in the latter. */
const QUOTED: ReadonlySet<number> = new Set(Array.from("$`\\[{}()*?", (char) => char.charCodeAt(0)));

function hasNonAscii(word: string | undefined): boolean {
  return word !== undefined && /[^\0-\x7f]/.test(word);
}

function isWordCode(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code > 0x7f;
}

/** The position after the line that ends the here-document; null if parsers disagree about which line that is. */
function heredocEnd(text: string, from: number, delimiter: string, isIndented: boolean, isQuoted: boolean): number | null {
  for (let at = from; at < text.length;) {
    const end = text.indexOf("\n", at) >>> 0;
    const line = text.slice(at, end);
    if (line.trim() === delimiter)
      return (isIndented ? line.replace(/^\t+/, "") : line) === delimiter ? Math.min(end + 1, text.length) : null;
    if (!isQuoted && line.endsWith("\\")) return null;
    at = end + 1;
  }
  return text.length;
}
