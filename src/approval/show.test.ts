import * as fc from "fast-check";
import { expect, test } from "vitest";
import { abridge, formatRequest } from "./show.ts";
import { makeVisible } from "./visible.ts";

test.each([
  ["ls -la ~/x", "ls -la ~/x"],
  ["größe 日本語 Привет мир", "größe 日本語 Привет мир"],
  ["a\tb\rc\u001b[2Jd\u0007\u009b", "a⟨U+0009⟩b⟨U+000D⟩c⟨U+001B⟩[2Jd⟨U+0007⟩⟨U+009B⟩"],
  ["rm \u202egnp.x", "rm ⟨U+202E⟩gnp.x"],
  ["\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"],
  ["a\u200bb\u200d\ufeff\u00ad\u2060", "a⟨U+200B⟩b⟨U+200D⟩⟨U+FEFF⟩⟨U+00AD⟩⟨U+2060⟩"],
  ["a\u00a0b\u3000c", "a⟨U+00A0⟩b⟨U+3000⟩c"],
  ["\u{e0041}\u3164\u2800\u180e\ufe0f", "⟨U+E0041⟩⟨U+3164⟩⟨U+2800⟩⟨U+180E⟩⟨U+FE0F⟩"],
  ["a\u2028b\u2029c", "a⟨U+2028⟩b⟨U+2029⟩c"],
  ["p\u0430ypal.com", "p⟨U+0430⟩ypal.com"],
  ["\u0440\u0430\u0443", "⟨U+0440⟩⟨U+0430⟩⟨U+0443⟩"],
  ["g\u03bfogle", "g⟨U+03BF⟩ogle"],
  ["\uff52\uff4d x", "⟨U+FF52⟩⟨U+FF4D⟩ x"],
  ["\u{1d42b}m", "⟨U+1D42B⟩m"],
  ["a\u2215b\u2044c\uff0fd", "a⟨U+2215⟩b⟨U+2044⟩c⟨U+FF0F⟩d"],
  ["a\u037eb", "a⟨U+037E⟩b"],
  ["rm \u2013rf", "rm ⟨U+2013⟩rf"],
  ["1990\u20131999", "1990\u20131999"],
  ["/\u0338etc", "/⟨U+0338⟩etc"],
  ["cafe\u0301", "cafe\u0301"],
  ["\ud800", "⟨U+D800⟩"],
  ["⟨U+202E⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩"],
  ["ls ", "ls⟨1 space⟩"],
  ["ls  \nrm", "ls⟨2 spaces⟩\nrm"],
  [`ls${" ".repeat(300)}; rm x`, "ls⟨300 spaces⟩; rm x"],
  [`ls${"\n".repeat(300)}rm x`, "ls\n⟨299 empty lines⟩\nrm x"],
  ["if x\n    y", "if x\n    y"],
])("%j is shown as %j", (text, shown) => {
  expect(makeVisible(text)).toBe(shown);
});

/** Decodes the output of `visible`. */
function readBack(shown: string): string {
  return shown
    .replace(/\n⟨(\d+) empty lines⟩\n/g, (_, many: string) => "\n".repeat(Number(many) + 1))
    .replace(/⟨(\d+) spaces?⟩/g, (_, many: string) => " ".repeat(Number(many)))
    .replace(/⟨U\+([0-9A-F]+)⟩/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
}

test("a call of an MCP tool is shown by the tool, its server and what the tool gets", () => {
  const args = { serverId: "k3x9d2p1", name: "create_issue", arguments: { title: "Leak", labels: ["bug"] }, timeoutMs: 5_000 };
  const { text } = formatRequest({
    call: "sys.mcp.call",
    args,
    target: "create_issue of Tracker (https://t.example/mcp)",
    cwd: "/home/ann",
  });
  expect(text.split("\n")).toEqual([
    "create_issue of Tracker (https://t.example/mcp)",
    "title: Leak",
    "labels[0]: bug",
    "sys.mcp.call timeoutMs: 5000",
  ]);
});

const nasty = fc.string({
  unit: fc.oneof(
    fc.constantFrom(" ", "\n", "⟨", "⟩", "a", "U+202E", "3 spaces", "\u202e", "\u0430", "          ", "\n\n\n\n\n"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

test("every text can be decoded from what is shown, which contains no invisible character", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const shown = makeVisible(text);
      expect(readBack(shown)).toBe(text);
      expect(shown).not.toMatch(/[^\P{C}\n]|\p{Zl}|\p{Zp}|[\u00a0\u3000]/u);
    }),
    { numRuns: 2000 },
  );
});

test("a request is shown completely, each argument by name, and no line of it looks like ours", () => {
  const args = { input: "echo hi\nshell.exec on gsv, in /", timeout: 5, to: { path: "~/x" }, ops: [{ a: "" }, null], none: [] };
  expect(formatRequest({ call: "shell.exec", args, target: "laptop", cwd: "~" })).toEqual({
    isWhole: true,
    text: [
      "shell.exec on laptop, in ~",
      "input:",
      "  | echo hi",
      "  | shell.exec on gsv, in /",
      "timeout: 5",
      "to.path: ~/x",
      "ops[0].a: ⟨empty⟩",
      "ops[1]: null",
      "none: []",
    ].join("\n"),
  });
});

test("names, target and directory of a request are made visible too", () => {
  const { text } = formatRequest({ call: "fs.write", args: { "a\u202e\nb": "x" }, target: "lap\u0430top", cwd: "/\u200b" });
  expect(text).toContain("on lap⟨U+0430⟩top, in /⟨U+200B⟩");
  expect(text).toContain("a⟨U+202E⟩");
});

test("an abridged value says how much is missing, and whole shows all of it", () => {
  const content = `${"a".repeat(5000)}${"\u{1f600}".repeat(3000)}${"z".repeat(500)}`;
  const request = { call: "fs.write", args: { path: "a", content }, target: "gsv", cwd: "~" };
  const { text, isWhole } = formatRequest(request);
  expect(isWhole).toBe(false);
  const [, missing, total] = /⟨(\d+) of (\d+) characters not shown⟩/.exec(text)!.map(Number);
  expect(total).toBe(content.length);
  expect(text.match(/a{100,}/)![0].length + text.match(/z+$/)![0].length + [...text.matchAll(/\u{1f600}/gu)].length * 2 + missing!).toBe(
    content.length,
  );
  expect(formatRequest(request, true)).toMatchObject({ isWhole: true, text: expect.stringContaining(content) });
  expect(formatRequest({ ...request, args: { ops: Array.from({ length: 150 }, (_, at) => at) } })).toMatchObject({
    isWhole: false,
    text: expect.stringContaining("⟨50 more arguments not shown⟩"),
  });
});

test("a command of usual length is shown completely", () => {
  const input = Array.from({ length: 1000 }, (_, at) => `echo ${at}`).join("\n");
  expect(formatRequest({ call: "shell.exec", args: { input }, target: "gsv", cwd: "~" }).isWhole).toBe(true);
});

test("abridging neither loses nor invents text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.integer({ min: 20, max: 200 }), (text, max) => {
      const [shown, isCut] = abridge(text, max);
      if (!isCut) {
        expect(shown).toBe(makeVisible(text));
        return;
      }
      const [head, missing, tail] = shown.split(/\n⟨(\d+) of \d+ characters not shown⟩\n/);
      const [begin, end] = [readBack(head!), readBack(tail!)];
      expect(text.startsWith(begin) && text.endsWith(end)).toBe(true);
      expect(begin.length + end.length + Number(missing)).toBe(text.length);
    }),
  );
});
