import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Markdown } from "./markdown.ts";

/** Styles as tags, to make the expectations readable. */
const NAMES: Record<string, string> = { 1: "b", 2: "d", 3: "i", 4: "u", 9: "s", 36: "c" };
const NAMES_OFF = new Set(["22", "23", "24", "29", "39"]);
function tags(text: string): string {
  // oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
  return text.replace(/\u001b\[(\d+)m/g, (_, code: string) => (NAMES_OFF.has(code) ? "</>" : `<${NAMES[code]}>`));
}

function render(text: string, cuts: readonly number[] = []): string {
  const markdown = new Markdown("styled");
  let out = "";
  let from = 0;
  for (const cut of [...cuts].toSorted((a, b) => a - b)) {
    out += markdown.push(text.slice(from, cut));
    from = cut;
  }
  return tags(out + markdown.push(text.slice(from)) + markdown.end());
}

test.each([
  ["plain text\nmore", "plain text\nmore"],
  ["# Title #\n## Sub", "<b><u>Title</></>\n<b>Sub</>"],
  ["- a\n  * b\n1. c\n2) d", "• a\n  • b\n1. c\n2) d"],
  ["**bold** and *it* and `a*b*`", "<b>bold</> and <i>it</> and <c>a*b*</>"],
  ["**a `b` c** ~~d~~", "<b>a <c>b</> c</> <s>d</>"],
  ["***both*** 5 * 3 * 2, snake_case_name, _yes_", "<b><i>both</></> 5 * 3 * 2, snake_case_name, <i>yes</>"],
  ["[docs](https://a.b/c) and [x] and ![pic](p.png)", "docs (<u>https://a.b/c</>) and [x] and pic (<u>p.png</>)"],
  ["[https://a.b](https://a.b)", "<u>https://a.b</>"],
  ["a \\*b\\* c:\\dir", "a *b* c:\\dir"],
  ["an *open end", "an *open end"],
  ["> said\n\n---\n", "<d>│ </>said\n\n<d>────────────────────────</>\n"],
  ["```sh\nls **x**\n\n# no title\n```\nafter", "<d>sh</>\n<c>ls **x**</>\n\n<c># no title</>\nafter"],
  ["```\n~~~\n```\nx", "<c>~~~</>\nx"],
  ["| a | bb |\n|---|:-:|\n| **long** | `x` |\n| 日本 |\nend", "<b>a     bb</>\n<b>long</>  <c>x</>\n日本\nend"],
  ["| no table\nend", "| no table\nend"],
  ["- **x**: y\n- `z`", "• <b>x</>: y\n• <c>z</>"],
  ["2024 was\n3.5 too", "2024 was\n3.5 too"],
])("%j", (text, expected) => {
  expect(render(text)).toBe(expected);
});

const TEXTS = [
  "# T\n\nSome **bold** `code` [l](u) _x_ \\* text.\n\n- a **b**\n- c\n\n```js\nconst a = 1;\n```\n| a | b |\n|-|-|\n| 1 | 2 |\n\n> q\n---\n1. x\r\n😀 end *open",
  "**a**b*c*`d`[e](f)![g](h)~~i~~__j__\n* * *\n***\n*k*\n",
];

test("markdown renders the same however it is split", () => {
  fc.assert(
    fc.property(fc.constantFrom(...TEXTS), fc.array(fc.nat(200), { maxLength: 30 }), (text, cuts) => {
      const inside = cuts.filter((cut) => cut < text.length);
      expect(render(text, inside)).toBe(render(text));
    }),
    { numRuns: 1_000 },
  );
});

test("any text, however it is split, renders the same, moves no cursor and closes its styles", () => {
  const anyText = fc.array(
    fc.constantFrom("*", "_", "`", "[", "]", "(", ")", "|", "-", "#", ">", "~", " ", "\n", "a", "1.", "\\", "!", "😀", "\u001b[2J", "\r"),
    {
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(80), { maxLength: 10 }), (parts, cuts) => {
      const text = parts.join("");
      const out = render(
        text,
        cuts.filter((cut) => cut < text.length),
      );
      expect(out).toBe(render(text));
      // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
      expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
      expect(out.match(/<[a-z]>/g)?.length).toBe(out.match(/<\/>/g)?.length);
    }),
    { numRuns: 3_000 },
  );
});

test("text of an incomplete line is shown up to the first open span", () => {
  const markdown = new Markdown("styled");
  expect(markdown.push("Hello wor")).toBe("Hello wor");
  expect(markdown.push("ld **and")).toBe("ld ");
  expect(tags(markdown.push("** so on"))).toBe("<b>and</> so on");
  expect(markdown.push("\n- it")).toBe("\n• it");
  expect(markdown.push("em\n| a |\n")).toBe("em\n");
});

test("a terminal without colours gets escaped text, and a pipe gets it unchanged", () => {
  const plain = new Markdown("plain");
  expect(plain.push("**a** \u001b[2J\ud83d") + plain.push("\ude00\r") + plain.push("\nb") + plain.end()).toBe("**a** \\x1b[2J😀\nb");
  const raw = new Markdown("raw");
  expect(raw.push("**a** \u001b[2J\r") + raw.end()).toBe("**a** \u001b[2J\r");
});

test("an endless line is still shown", () => {
  const markdown = new Markdown("styled");
  let out = "";
  for (let at = 0; at < 20_000; at++) out += markdown.push("**a ");
  expect(out.length).toBeGreaterThan(70_000);
  expect(out + markdown.end()).toBe("**a ".repeat(20_000));
});

test("text is wrapped at words, however it arrives; code and tables are not", () => {
  const text = [
    "A paragraph with **bold words** and `code with spaces` that is too long.",
    "- an item that is too long as well",
    "> a quotation which is too long",
    "```",
    "a line of code that is longer than the terminal",
    "```",
  ].join("\n");
  const wanted = [
    "A paragraph with bold",
    "words and",
    "code with spaces that is",
    "too long.",
    "• an item that is too",
    "  long as well",
    "│ a quotation which is",
    "│ too long",
    "a line of code that is longer than the terminal",
  ];
  for (const size of [1, 3, 1_000]) {
    const markdown = new Markdown("styled", () => 24);
    let shown = "";
    for (let at = 0; at < text.length; at += size) shown += markdown.push(text.slice(at, at + size));
    const lines = stripVTControlCharacters(shown + markdown.end()).split("\n");
    expect(lines.map((line) => line.trimEnd()).filter((line) => line !== "")).toEqual(wanted);
  }
});
