// Markdown into blocks and inlines (web/src/markdown), without a browser.

import { assert as check, constantFrom, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { parseBlocks } from "../../web/src/markdown/blocks.ts";
import { highlight } from "../../web/src/markdown/highlight.ts";
import { type Inline, parseInlines, safeHref } from "../../web/src/markdown/inlines.ts";
import { renderTex } from "../../web/src/markdown/render-tex.ts";

const bare = (text: string) => parseBlocks(text).map(({ source: _, ...block }) => block);

describe("blocks", () => {
  test("are separated by their lines", () => {
    expect(bare("# Title\nwords\nmore\n\n---\n> said\n> so\n\n```ts\nlet a\n\n  b\n```\nend")).toEqual([
      { type: "heading", level: 1, text: "Title" },
      { type: "paragraph", text: "words\nmore" },
      { type: "rule" },
      { type: "quote", text: "said\nso" },
      { type: "code", language: "ts", text: "let a\n\n  b" },
      { type: "paragraph", text: "end" },
    ]);
  });

  test("of code extend to the end while the closing fence is missing", () => {
    expect(bare("```sh\nls\n# not a heading")).toEqual([{ type: "code", language: "sh", text: "ls\n# not a heading" }]);
  });

  test("of lists contain lists, paragraphs and tasks", () => {
    expect(bare("Here:\n- one\n  - inner\n- [x] two\n\n  more\n- [ ] three\n\nafter")).toEqual([
      { type: "paragraph", text: "Here:" },
      {
        type: "list",
        start: null,
        items: [
          { text: "one\n- inner", isChecked: null },
          { text: "two\n\nmore", isChecked: true },
          { text: "three", isChecked: false },
        ],
      },
      { type: "paragraph", text: "after" },
    ]);
    expect(bare("3. three\n4. four")).toMatchObject([{ type: "list", start: 3, items: [{ text: "three" }, { text: "four" }] }]);
  });

  test("of tables have as many cells in each row as in the head", () => {
    expect(bare("| a | b |\n|:--|--:|\n| 1 | x \\| y |\n| 2 |")).toEqual([
      {
        type: "table",
        align: ["left", "right"],
        head: ["a", "b"],
        rows: [
          ["1", "x | y"],
          ["2", ""],
        ],
      },
    ]);
  });
});

describe("inlines", () => {
  const text = (words: string): Inline => ({ type: "text", text: words });

  test("are marked by punctuation, but not inside a word", () => {
    expect(parseInlines("a **b *c* d** `e*` snake_case_name ~~f~~ 2 * 3 * 4")).toEqual([
      text("a "),
      { type: "strong", children: [text("b "), { type: "em", children: [text("c")] }, text(" d")] },
      text(" "),
      { type: "code", text: "e*" },
      text(" snake_case_name "),
      { type: "del", children: [text("f")] },
      text(" 2 * 3 * 4"),
    ]);
  });

  test("link only to the web and to mail", () => {
    expect(
      parseInlines("[a](https://b.example/c_(d)) ![p](https://b.example/p.png) [x](javascript:alert(1)) https://c.example/d."),
    ).toEqual([
      { type: "link", href: "https://b.example/c_(d)", children: [text("a")] },
      text(" "),
      { type: "link", href: "https://b.example/p.png", children: [text("p")] },
      text(" x (javascript:alert(1)) "),
      { type: "link", href: "https://c.example/d", children: [text("https://c.example/d")] },
      text("."),
    ]);
    for (const bad of [
      "javascript:alert(1)",
      "JaVaScRiPt:x",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc",
      " \u0001javascript:x",
      "//evil",
      "/a",
      "blob:x",
    ])
      expect(safeHref(bad)).toBeNull();
    expect(safeHref("mailto:a@b.example")).toBe("mailto:a@b.example");
  });
});

test("no text is lost, and parsing always terminates", () => {
  const signs = string({ unit: constantFrom(...Array.from("ab *_`~[]()!<>\\\n#|-1.:h/")), maxLength: 300 });
  const wordsOf = (inlines: readonly Inline[]): string =>
    inlines.map((inline) => ("children" in inline ? wordsOf(inline.children) : "text" in inline ? inline.text : " ")).join("");
  check(
    property(signs, (text) => {
      const letters = (from: string) => from.replaceAll(/[^ab]/g, "");
      for (const block of parseBlocks(text)) expect(letters(text)).toContain(letters(block.source));
      expect(letters(wordsOf(parseInlines(text)))).toBe(letters(text));
      expect(
        highlight(text, "ts")
          .map((token) => token.text)
          .join(""),
      ).toBe(text);
    }),
    { numRuns: 400 },
  );
  for (const sign of ["*", "_", "[", "`", "![", "<", "[(", "**a", "> ", "- "]) {
    const long = sign.repeat(20_000);
    parseBlocks(long);
    parseInlines(long.slice(0, 20_000));
  }
});

describe("formulas", () => {
  const formulas = (words: string) => parseInlines(words).flatMap((one) => (one.type === "math" ? [one.tex] : []));

  test.each([
    ["Energy is $E = mc^2$, always.", ["E = mc^2"]],
    [String.raw`So \(a_1 * b * c\) and \[x^2\] end.`, ["a_1 * b * c", "x^2"]],
    ["both $a$ and $$b$$", ["a", "b"]],
    [String.raw`$\text{if } x \in A$`, [String.raw`\text{if } x \in A`]],
    ["It costs $5 and $10.", []],
    ["A lone $x $ y", []],
    ["From $5-$10, or US$5 to US$6, or 5$ and 6$.", []],
    ["$5, or maybe 10$ at most", []],
    ["Set $HOME and $PATH, or $HOME/$USER.", []],
    ["`$x$` is code, \\$x\\$ is not", []],
    [String.raw`a list \[one\] and \(two words\)`, []],
    ["unfinished $x + ", []],
  ])("%s", (words, found) => {
    expect(formulas(words)).toEqual(found);
  });

  test("are blocks on lines of their own, whatever is in them, once their end has arrived", () => {
    expect(bare("so\n$$\na\n\n- b\n= c\n$$\nend")).toEqual([
      { type: "paragraph", text: "so" },
      { type: "math", tex: "a\n\n- b\n= c" },
      { type: "paragraph", text: "end" },
    ]);
    expect(bare(String.raw`\[ x \]`)).toEqual([{ type: "math", tex: "x" }]);
    expect(bare("$$\na")).toEqual([{ type: "paragraph", text: "$$\na" }]);
    expect(bare("$$a$$ is it")).toEqual([{ type: "paragraph", text: "$$a$$ is it" }]);
  });

  test("do not end emphasis", () => {
    expect(parseInlines("**so $a**b$ is**")).toEqual([
      {
        type: "strong",
        children: [
          { type: "text", text: "so " },
          { type: "math", tex: "a**b", isDisplay: false },
          { type: "text", text: " is" },
        ],
      },
    ]);
  });

  test("become MathML without attributes that could style or link; malformed, deep and endless ones are not rendered", () => {
    const html = (tex: string) => JSON.stringify(renderTex(tex, true));
    expect(html("\\mathbb{R}")).toContain("\u211d");
    expect(html("\\begin{aligned} a &= b \\end{aligned}")).toContain('"data-align":"right"');
    for (const tex of ["\\href{https://evil.example}{x}", "\\htmlStyle{color:red}{x}", "\\includegraphics{https://evil.example}"])
      expect(html(tex)).not.toMatch(/evil|"style"|"href"/);
    for (const tex of [
      "\\frac{1",
      "{".repeat(1_900),
      `${"{\\sqrt".repeat(200)}x${"}".repeat(200)}`,
      "\\def\\a{x\\a\\a}\\a",
      "x+".repeat(2_500),
    ])
      expect(renderTex(tex, true)).toBeNull();
  });
});
