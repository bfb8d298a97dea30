// Commands that a parser may take very long over, and commands at the limit of what is still parsed. Judging any of them must not
// block the kernel. Those at the edge come from a search for the slowest texts below the limits.

import { countParseSteps, STEPS_MAX } from "../../../src/approval/hardness.ts";

export type HardText = { name: string; text: string };

const LONG = 64 * 1024;
const READ_CHARS_MAX = 32 * 1024;

export function hardTexts(): HardText[] {
  return [...LONG_ONES, ...NESTED, ...AT_THE_EDGE, ...ENDLESS].map(([name, text]) => ({ name, text }));
}

type Named = [name: string, text: string];

/** Longer than what is parsed, and as long as plain text that is still parsed. */
const LONG_ONES: Named[] = [
  ["brackets, as long as is read", repeatTo("[", READ_CHARS_MAX)],
  ["brackets", repeatTo("[", LONG)],
  ["classes", repeatTo("[.", READ_CHARS_MAX)],
  ["equivalents", repeatTo("=[", READ_CHARS_MAX)],
  ["braces", repeatTo("{", READ_CHARS_MAX)],
  ["braces and parentheses", repeatTo("{)", READ_CHARS_MAX)],
  ["parentheses", repeatTo("(", LONG)],
  ["dollars", repeatTo("$", READ_CHARS_MAX)],
  ["quotes of both kinds", repeatTo(`"'`, READ_CHARS_MAX)],
  ["backslashes", repeatTo("\\", READ_CHARS_MAX)],
  ["backticks", repeatTo("`a`", READ_CHARS_MAX)],
  ["extended patterns", repeatTo("@(a|", READ_CHARS_MAX)],
  ["here-documents without an end", repeatTo("<<E ", READ_CHARS_MAX)],
  ["here-documents with their ends", repeatTo("cat <<E\n[.$x\nE\n", READ_CHARS_MAX)],
  ["a here-document of brackets", `cat <<E\n${repeatTo("[.", READ_CHARS_MAX - 20)}\nE\n`],
  ["here-strings", repeatTo("a<<<b ", LONG)],
  ["commands", repeatTo("a;", LONG)],
  ["redirections", repeatTo("a>b ", READ_CHARS_MAX)],
  ["assignments", repeatTo("a=b ", LONG)],
  ["one word", repeatTo("a", READ_CHARS_MAX)],
  ["one word of signs", repeatTo("\u{1f600}", READ_CHARS_MAX)],
  ["look-alikes", repeatTo("\u0430", LONG)],
  ["characters of all kinds", Array.from({ length: READ_CHARS_MAX / 2 }, (_, at) => `a${String.fromCodePoint(0xa1 + at)}`).join("")],
  ["words of all characters", Array.from({ length: READ_CHARS_MAX / 2 }, (_, at) => `${String.fromCodePoint(0x3400 + at)} `).join("")],
  ["marks", repeatTo("a\u0301\u202e", LONG)],
];

const NESTED: Named[] = [
  nested("commands in words", "$(a ", ")"),
  nested("quoted commands in words", '"$(a ', ')"'),
  nested("expansions", "${x:-", "}"),
  nested("sums", "$((1+", "))"),
  nested("lists of names", "{a,", "}"),
  nested("loops", "for x in a; do ", "; done"),
  nested("cases", "case a in b) ", ";; esac"),
  nested("functions", "f() { ", "; }"),
  nested("conditions", "[[ ( a && ", " ) ]]"),
];

/** As many repetitions as are just still parsed. */
const AT_THE_EDGE: Named[] = [
  edge("plain commands", "a;"),
  edge("programs that run others", "xargs "),
  edge("directories and files", "cd /x/y;touch /a/b;"),
  edge("texts that hold commands", `sh -c "a 'b'" `),
  edge("names that are made", "cat .s*h/$x.p* "),
  edge("closing parentheses", ")"),
  edge("brackets", "[a "),
  edge("classes in a here-document", "[.<<E\n", "{ while a; do "),
  edge("words of signs", "\u{1f600}~/.x "),
  edge("one option after another", "find . -exec -delete "),
  edge("sums", "$((1+2)) "),
  edge("redirections to what is not known", ">?"),
  edge("lines that go on", "\\\n"),
];

const ENDLESS: Named[] = [
  ["a sum with a dollar", "echo $(($+1))"],
  ["a sum without an end", "$((${"],
  ["an index without an end", "echo ${a["],
  ["a part of a text", "echo ${x:$ }"],
];

function repeatTo(unit: string, chars: number): string {
  return unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);
}

function nested(name: string, open: string, close: string): Named {
  const times = Math.floor(READ_CHARS_MAX / (open.length + close.length));
  return [`nested ${name}`, open.repeat(times) + close.repeat(times)];
}

function edge(name: string, unit: string, before = ""): Named {
  const isRead = (times: number): boolean => {
    const text = before + unit.repeat(times);
    return text.length <= READ_CHARS_MAX && countParseSteps(text) <= STEPS_MAX;
  };
  let [most, tooMany] = [0, 1];
  while (isRead(tooMany)) [most, tooMany] = [tooMany, 2 * tooMany];
  while (tooMany - most > 1) {
    const middle = (most + tooMany) >> 1;
    if (isRead(middle)) most = middle;
    else tooMany = middle;
  }
  return [`${name}, as many as are read`, before + unit.repeat(most)];
}
