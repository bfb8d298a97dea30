// How much work the parser of script.ts may have with a text: an upper bound, found in one pass. That parser looks ahead from
// every bracket, quote and dollar, at worst to the end of the text, and the kernel waits for it: who writes commands is not
// to be trusted, so what is too hard is not read at all. Steps are about a nanosecond each; hardness.test.ts and
// `npm run trust:approval` hold the bound against the parser.

/** What all texts of one command may take together. */
export const STEPS_MAX = 6_000_000;

/** Of one text, and at most a little above `STEPS_MAX`: the count ends there. */
export function hardness(text: string): number {
  return text.length > CHARS_MAX ? STEPS_MAX + 1 : new Count(text).steps();
}

/** What is longer is not judged by its words; a person sees it. */
const CHARS_MAX = 32 * 1024;

/** One word: to read it, to keep it, and to judge it. */
const WORD_STEPS = 2_200;
const MARK_STEPS = 1_200;
/** One character of a word, and one that is nothing but copied. */
const CHAR_STEPS = 180;
const COPY_STEPS = 40;
/** One that is looked at once more to be shown. */
const FOREIGN_STEPS = 400;
/** One character that is passed over while the parser looks for the end of something. */
const LOOK_STEPS = 12;

/** In each of these, no two ways lead through the same text, so that none is tried in vain. */
const NAME = String.raw`\$(?:[A-Za-z_]\w*(?!\w)|[0-9?#@*$!-])`;
const EXPANSION = String.raw`\$\{[#!]?\w+(?:\[[\w@*]*\])?(?:[:=?#%/^,@+-](?:[^{}'"\x60\\$\n]|${NAME})*)?\}`;
/** A command that makes a word, on one line, and at most one more in it. */
const command = (inner: string): string =>
  String.raw`\$\((?!\()(?:[^()'"\x60\\$#<\n]|<(?!<)|'[^'\n]*'|"(?:[^"\\$\x60\n]|${NAME}|${EXPANSION}${inner})*"|${NAME}|${EXPANSION}${inner})*\)`;
const COMMAND = command(`|${command("")}`);
const SUM = String.raw`\(\((?:[\w \t+*/%=!?:;,&|^~-]|<(?!<)|>|${NAME}|\$\{\w+\}|${command("")})*\)\)`;
const MADE = String.raw`${NAME}|${EXPANSION}|\$${SUM}|${COMMAND}`;
const SINGLE = String.raw`'[^']*'|\$'(?:[^'\\]|\\[^])*'`;
const DOUBLE = String.raw`"(?:[^"\\$\x60]|\\[^]|\$(?=["\s.,/|)])|${MADE})*"`;
const END = String.raw`(?=[ \t\n;&|<>)]|$)`;

/**
 * What is certain to be read as it looks, up to the ends of quotes. A bracket after a name and a brace make the parser pass over
 * quotes, so both are here only where none can follow.
 */
const PLAIN = new RegExp(
  [
    String.raw`(?<blank>[ \t]+|(?<=(?<!\\)[ \t;&|(])\\\n)`,
    String.raw`(?<line>\n)`,
    String.raw`(?<word>(?:[\w.,/:=%^~-]|[^\x00-\x7f]|\\[^\n]|[+@](?!\()|(?<=[\w./:%-])#)+)`,
    String.raw`(?<heredoc><<-?[ \t]*(?:(['"]?)([\w-]+)\5|\\[\w-]+)${END})`,
    // Behind an escaped blank or mark, and behind a command that makes a word, it goes on with that word.
    String.raw`(?<comment>(?<=^|(?<!\\)[ \t\n;&|(])#[^\n]*)`,
    String.raw`(?<single>${SINGLE})`,
    String.raw`(?<made>${DOUBLE}|${MADE}|${SUM})`,
    // Not behind `=`: of `!=` the parser makes a word of its own, and a comment of what follows.
    String.raw`(?<=[\w./:%-])#`,
    // Within a list that is put into a variable, quotes beside each other are not all seen.
    String.raw`(?<list>(?<==)\((?:[\w.,/:%~ \t\n-]|'[^'$\x60\\\n]*'|"[^"$\x60\\\n]*")*\)|(?<=\w)\[[\w@*.^-]*\]|\{[\w.,/-]*\}${END}|\{(?=[ \t\n]|$))`,
    String.raw`(?<mark><<<|<(?!<)|&&|\|\||[;&|>)}\]!*?]|\((?!\()(?<![@*+?!=]\()|(?<!\w)\[)`,
  ].join("|"),
  "y",
);

class Count {
  readonly #text: string;
  #steps = 0;
  #at = 0;
  /** Where the part begins that the parser cannot look beyond, and how often it looks ahead in it. */
  #start = 0;
  #looks = 0;
  /** Of `[:` and the like, from which it looks ahead once more. */
  #classes = 0;
  #heredoc: RegExpExecArray | null = null;
  #isWordStart = true;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): number {
    PLAIN.lastIndex = 0;
    while (this.#at < this.#text.length && this.#steps <= STEPS_MAX) {
      PLAIN.lastIndex = this.#at;
      const found = PLAIN.exec(this.#text);
      if (found === null) return this.#rest();
      this.#at = PLAIN.lastIndex;
      if (!this.#plain(found)) return this.#rest();
    }
    this.#endPart(this.#at);
    return this.#steps;
  }

  /** Whether the text is still plain behind it. */
  #plain(found: RegExpExecArray): boolean {
    const { blank, word, heredoc, line, made, list, mark, single, comment } = found.groups!;
    const isCopied = single !== undefined || comment !== undefined || blank !== undefined;
    this.#steps += found[0].length * (isCopied ? COPY_STEPS : isForeign(word) ? FOREIGN_STEPS : CHAR_STEPS);
    const isMark = line !== undefined || blank?.startsWith("\\") || /^[;&|<>()]/.test(mark ?? "");
    if (isMark) this.#steps += MARK_STEPS;
    else if (blank === undefined) this.#steps += WORD_STEPS;
    const wasStart = this.#isWordStart;
    this.#isWordStart = blank !== undefined || line !== undefined || /^[;&|]/.test(mark ?? "");
    // Within a word there is no comment, and the end of a line does not end the word.
    if (!wasStart && (comment !== undefined || blank?.startsWith("\\"))) return false;
    if (heredoc !== undefined) {
      // Not all that reads two of them on one line takes their ends for the same.
      if (this.#heredoc !== null) return false;
      this.#heredoc = found;
    }
    if (mark === "[") this.#looks++;
    if (/^\[[:.=]/.test(this.#text.slice(found.index, found.index + 2))) this.#classes++;
    if (list !== undefined) this.#made(list);
    if (made !== undefined) this.#made(made);
    if (line === undefined) return true;
    this.#endPart(this.#at);
    const opened = this.#heredoc;
    this.#heredoc = null;
    return opened === null || this.#body(opened);
  }

  /** It is read again on its own, and where it begins with two parentheses, perhaps to the end of the text. */
  #made(text: string): void {
    const looks = lookAheads(text, text.startsWith('"'));
    this.#looks += looks;
    this.#steps += looks * (WORD_STEPS + text.length * LOOK_STEPS);
    if (text.includes("((")) this.#steps += this.#text.length * LOOK_STEPS;
  }

  #body(opened: RegExpExecArray): boolean {
    const written = opened[0];
    const isQuoted = /['"\\]/.test(written);
    const end = endOf(this.#text, this.#at, written.replace(/^<<-?[ \t]*/, "").replace(/['"\\]/g, ""), written.startsWith("<<-"), isQuoted);
    if (end === null) return false;
    const body = this.#text.slice(this.#at, end);
    this.#at = end;
    this.#start = end;
    this.#steps += body.length * COPY_STEPS;
    if (isQuoted) return true;
    this.#steps += isEndless(body) ? Infinity : lookAheads(body, true) * (WORD_STEPS + body.length * LOOK_STEPS);
    return true;
  }

  #endPart(end: number): void {
    this.#steps += this.#looks * (1 + this.#classes) * (end - this.#start) * LOOK_STEPS;
    this.#start = end;
    this.#looks = 0;
    this.#classes = 0;
  }

  /** From here on nothing is certain: each mark may be looked ahead from to the end. */
  #rest(): number {
    const rest = this.#text.slice(this.#start);
    if (isEndless(rest)) return Infinity;
    this.#steps += lookAheads(rest, false) * (WORD_STEPS + rest.length * LOOK_STEPS) + rest.length * CHAR_STEPS;
    return this.#steps;
  }
}

/**
 * The parser never ends over some sums and expansions, such as `$(($+1))` and `${a[`, and takes all memory. Where it is not certain
 * which are there, no sum is read, and no expansion but those that begin as they should.
 */
function isEndless(text: string): boolean {
  // The parser takes some backslashes away before it looks, with the end of a line behind them.
  return text.includes("\\") ? hasOddStart(text) || hasOddStart(text.replace(/\\+\n?/g, "")) : hasOddStart(text);
}

function hasOddStart(text: string): boolean {
  if (text.includes("((") || text.includes("$[")) return true;
  // Of `$"a"b` it takes the quotes away and keeps the dollar.
  if (/\$"(?![\w ./-]*"[ \t\n;&|<>)])/.test(text)) return true;
  return /\$\{(?!(?:[#!]?\w+(?:\[[\w@*]*\])?|[?*@$-])(?:[}=?#%/^,@+-]|:[-=?+])|[#!][#?*@!$-]?\})/.test(text);
}

/** How often the parser looks ahead; a look from a bracket may look ahead again from `[:` and the like. */
function lookAheads(text: string, isQuoted: boolean): number {
  let looks = 0;
  let brackets = 0;
  let classes = 0;
  let wasBlank = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isBlank = code <= 0x20;
    if (isQuoted ? QUOTED.has(code) : !isWordCode(code) && !(isBlank && wasBlank)) looks++;
    wasBlank = isBlank;
    if (code !== BRACKET) continue;
    brackets++;
    if (/[:.=]/.test(text[at + 1] ?? "")) classes++;
  }
  return looks + brackets * classes;
}

const BRACKET = "[".charCodeAt(0);
/** What is looked ahead from in double quotes and here-documents: in the latter, from globs too. */
const QUOTED: ReadonlySet<number> = new Set(Array.from("$`\\[{}()*?", (char) => char.charCodeAt(0)));

function isForeign(word: string | undefined): boolean {
  return word !== undefined && /[^\0-\x7f]/.test(word);
}

function isWordCode(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code > 0x7f;
}

/** Behind the line that ends it; null where a line ends it for some that read it and not for others. */
function endOf(text: string, from: number, delimiter: string, isIndented: boolean, isQuoted: boolean): number | null {
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
