// The behaviour of fs.* on any target, tested on a file system in memory.

import * as fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryFiles } from "../../test/support/memory/files.ts";
import { deleteFile } from "./delete.ts";
import { editFile } from "./edit.ts";
import { type ByteRange, type FileMachine, NATIVE_LIMITS } from "./filesystem.ts";
import { LinePositions } from "./line-places.ts";
import { readFile } from "./read.ts";
import { searchFiles } from "./search.ts";
import { writeFile } from "./write.ts";

const PNG = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), (c) =>
  c.charCodeAt(0),
);

let files: MemoryFiles;
let machine: FileMachine;
let time = 0;

beforeEach(() => {
  files = new MemoryFiles();
  time = 0;
  machine = { files, limits: NATIVE_LIMITS, now: () => time, signal: new AbortController().signal };
});

const put = (path: string, content: string | Uint8Array) =>
  files.write(files.resolve(path), typeof content === "string" ? new TextEncoder().encode(content) : content);

describe("fs.read", () => {
  it("returns plain text as it is, whole or in parts", async () => {
    for (const text of ["one\ntwo\n", "one\ntwo", "one\n\nthree\n\n", "one\r\ntwo\r\n", "", `${"a line\n".repeat(9_000)}end`]) {
      await put("plain.txt", text);
      expect(await readFile(machine, { path: "plain.txt", plain: true })).toMatchObject({ content: text });
      let joined = "";
      for (let offset = 0, more = text !== ""; more; offset += 3_000) {
        const part = await readFile(machine, { path: "plain.txt", plain: true, offset, limit: 3_000 });
        if (!("content" in part)) throw new Error(JSON.stringify(part));
        joined += typeof part.content === "string" ? part.content : "";
        more = part.more === true;
      }
      expect(joined).toBe(text);
    }
  });

  it("numbers lines, and a final newline adds no line", async () => {
    await put("a.txt", "one\ntwo\n");
    expect(await readFile(machine, { path: "a.txt" })).toEqual({
      ok: true,
      path: "/home/alice/a.txt",
      content: "     1\tone\n     2\ttwo",
      lines: 2,
      size: 8,
    });
    await put("b.txt", "one\n\nthree");
    expect(await readFile(machine, { path: "~/b.txt", offset: 1, limit: 1 })).toMatchObject({ content: "     2\t", lines: 1, size: 10 });
    await put("empty", "");
    expect(await readFile(machine, { path: "empty" })).toMatchObject({ content: "", lines: 0, size: 0 });
  });

  it("counts bytes, keeps characters that span two chunks, and reads any part of a large file", async () => {
    const line = "é".repeat(50);
    await put("big.txt", Array.from({ length: 20_000 }, () => line).join("\n"));
    const result = await readFile(machine, { path: "big.txt", offset: 19_998 });
    expect(result).toMatchObject({ content: ` 19999\t${line}\n 20000\t${line}`, lines: 2, size: 20_000 * 101 - 1 });
  });

  it("reads the same text page by page, says if more follows, and reads a large file only a few times over", async () => {
    const places = new LinePositions();
    const lines = Array.from({ length: 60_000 }, (_, at) => `${at} ${"é".repeat(at % 40)}`);
    await put("pages.txt", lines.join("\n"));
    const { size } = await files.stat("/home/alice/pages.txt");
    let bytesRead = 0;
    class Counting extends MemoryFiles {
      override resolve = (path: string) => files.resolve(path);
      override stat = (path: string) => files.stat(path);
      override async read(path: string, range?: ByteRange) {
        const bytes = await files.read(path, range);
        bytesRead += bytes.length;
        return bytes;
      }
    }
    const counting = new Counting();
    const shown: string[] = [];
    for (let more = true; more;) {
      const page = await readFile({ ...machine, files: counting, places }, { path: "pages.txt", offset: shown.length, limit: 3_000 });
      if (!page.ok || !("content" in page) || typeof page.content !== "string") throw new Error("no page");
      shown.push(...page.content.split("\n").map((line) => line.slice(line.indexOf("\t") + 1)));
      more = page.more === true;
    }
    expect(shown).toEqual(lines);
    expect(bytesRead).toBeLessThan(size * 6);
  });

  it("finds the same lines with and without remembered line positions", async () => {
    const line = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll("\n", ""));
    const asks = fc.array(fc.record({ offset: fc.nat(60), limit: fc.nat(20) }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 50 }), fc.nat(3_000), asks, async (texts, filler, asked) => {
        const places = new LinePositions();
        await put("any.txt", texts.map((text, at) => text + (at % 7 === 0 ? "x".repeat(filler * 50) : "")).join("\n"));
        for (const ask of asked)
          expect(await readFile({ ...machine, places }, { path: "any.txt", ...ask })).toEqual(
            await readFile(machine, { path: "any.txt", ...ask }),
          );
      }),
      { numRuns: 60 },
    );
  });

  it("refuses too much text and an offset past the end, and says what to do", async () => {
    await put("huge.txt", "x".repeat(1_000_000).concat("\n").repeat(17));
    expect(await readFile(machine, { path: "huge.txt" })).toMatchObject({ ok: false, error: expect.stringContaining("offset and limit") });
    expect(await readFile(machine, { path: "huge.txt", limit: 2 })).toMatchObject({ ok: true, lines: 2 });
    expect(await readFile(machine, { path: "huge.txt", offset: 99 })).toEqual({
      ok: false,
      error: "offset 99 is past the end: /home/alice/huge.txt has 17 lines",
    });
  });

  it("lists a directory, sorted", async () => {
    await put("d/z", "");
    await put("d/a", "");
    await put("d/sub/x", "");
    expect(await readFile(machine, { path: "d" })).toEqual({ ok: true, path: "/home/alice/d", files: ["a", "z"], directories: ["sub"] });
  });

  it("recognizes an image by its content, not its name, and refuses one that is too large", async () => {
    await put("picture.txt", PNG);
    const result = await readFile(machine, { path: "picture.txt" });
    expect(result).toMatchObject({
      ok: true,
      size: PNG.length,
      content: [
        { type: "text", text: `/home/alice/picture.txt (image/png, ${PNG.length} bytes)` },
        { type: "image", mimeType: "image/png" },
      ],
    });
    machine = { ...machine, limits: { ...NATIVE_LIMITS, imageBytes: PNG.length - 1 } };
    expect(await readFile(machine, { path: "picture.txt" })).toMatchObject({
      ok: false,
      error: expect.stringContaining("Image too large"),
    });
  });

  it("reports binary files", async () => {
    await put("x.bin", new Uint8Array([1, 0, 2]));
    await put("y.txt", new Uint8Array([0xff, 0xfe, 0x41]));
    await put("z.pdf", "%PDF-1.7\n\0");
    expect(await readFile(machine, { path: "x.bin" })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^Binary file \(unknown kind, 3 bytes\)/),
    });
    expect(await readFile(machine, { path: "y.txt" })).toMatchObject({ ok: false, error: expect.stringMatching(/^Binary file/) });
    expect(await readFile(machine, { path: "z.pdf" })).toMatchObject({ ok: false, error: expect.stringContaining("application/pdf") });
  });

  it("names the nearest directory that exists", async () => {
    expect(await readFile(machine, { path: "no/such/file" })).toEqual({
      ok: false,
      error: "Not found: /home/alice/no/such/file. The nearest directory that exists is /home/alice",
    });
    files.closed.add("/home/alice/secret");
    expect(await readFile(machine, { path: "secret" })).toEqual({ ok: false, error: "Permission denied: /home/alice/secret" });
  });
});

describe("fs.write", () => {
  it("creates parents and counts bytes", async () => {
    expect(await writeFile(machine, { path: "a/b/c.txt", content: "é" })).toEqual({ ok: true, path: "/home/alice/a/b/c.txt", size: 2 });
    expect(await writeFile(machine, { path: "a/b", content: "" })).toEqual({ ok: false, error: "Is a directory: /home/alice/a/b" });
    expect(await writeFile(machine, { path: "a/b/c.txt/d", content: "" })).toMatchObject({
      ok: false,
      error: expect.stringContaining("Not a directory"),
    });
  });

  it("writes text that reads back unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (content) => {
        if (content.includes("\0")) return;
        await writeFile(machine, { path: "x", content });
        expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(await files.read("/home/alice/x"))).toBe(content);
      }),
    );
  });
});

describe("fs.edit", () => {
  const edit = (oldString: string, newString: string, replaceAll?: boolean) =>
    editFile(machine, { path: "a.txt", oldString, newString, replaceAll });

  it("replaces one occurrence or all, and treats the text literally", async () => {
    await put("a.txt", "x = 1\ny = 1\n$& = 1\n");
    expect(await edit("y = 1", "y = $&$1")).toEqual({ ok: true, path: "/home/alice/a.txt", replacements: 1 });
    expect(new TextDecoder().decode(await files.read("/home/alice/a.txt"))).toBe("x = 1\ny = $&$1\n$& = 1\n");
    expect(await edit(" = ", "=", true)).toMatchObject({ replacements: 3 });
  });

  it("says how often and where the text occurs, or what is there instead", async () => {
    await put("a.txt", "a\nb\na\n  indented line\n");
    expect(await edit("a\n", "c\n")).toMatchObject({
      ok: false,
      error: expect.stringContaining("occurs 2 times in /home/alice/a.txt (lines 1, 3)"),
    });
    expect(await edit("nothing", "x")).toEqual({
      ok: false,
      error: "oldString not found in /home/alice/a.txt. Read the file again and copy the text exactly",
    });
    expect(await edit("indented line\n  more", "x")).toMatchObject({
      error: expect.stringContaining("Line 4 differs only in white space"),
    });
    expect(await edit("     1\ta", "x")).toMatchObject({ error: expect.stringContaining("Leave out the line numbers") });
    expect(await edit("", "x")).toMatchObject({ ok: false, error: expect.stringContaining("must not be empty") });
    expect(await edit("a", "a")).toMatchObject({ ok: false });
    expect(await editFile(machine, { path: "no.txt", oldString: "a", newString: "b" })).toEqual({
      ok: false,
      error: "File not found: /home/alice/no.txt",
    });
  });

  it("does not overwrite a concurrent change", async () => {
    await put("a.txt", "old");
    const read = files.read.bind(files);
    files.read = async (path, range) => {
      const bytes = await read(path, range);
      await put("a.txt", "somebody else's old");
      return bytes;
    };
    expect(await edit("old", "new")).toMatchObject({ ok: false, error: expect.stringContaining("has changed in the meantime") });
  });
});

describe("fs.delete", () => {
  it("deletes a directory with everything below it", async () => {
    await put("d/e/f", "");
    expect(await deleteFile(machine, { path: "d" })).toEqual({ ok: true, path: "/home/alice/d" });
    expect(await deleteFile(machine, { path: "d" })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^Not found: \/home\/alice\/d\./),
    });
    expect(await deleteFile(machine, { path: "/" })).toEqual({ ok: false, error: "Not permitted: /" });
  });
});

describe("fs.search", () => {
  it("finds lines literally, in order, below a path or in one file", async () => {
    await put("p/b.ts", "let a.b = 1\nlet axb = 2\n");
    await put("p/a.md", "a.b");
    await put("q.ts", "a.b");
    expect(await searchFiles(machine, { query: " a.b ", path: "p" })).toEqual({
      ok: true,
      count: 2,
      matches: [
        { path: "/home/alice/p/a.md", line: 1, content: "a.b" },
        { path: "/home/alice/p/b.ts", line: 1, content: "let a.b = 1" },
      ],
    });
    expect(await searchFiles(machine, { query: "a.b", include: "*.ts" })).toMatchObject({
      count: 2,
      matches: [{ path: "/home/alice/p/b.ts" }, { path: "/home/alice/q.ts" }],
    });
    expect(await searchFiles(machine, { query: "a.b", path: "q.ts" })).toMatchObject({ count: 1 });
    expect(await searchFiles(machine, { query: " " })).toEqual({ ok: false, error: "Search query is required." });
    expect(await searchFiles(machine, { query: "x", path: "nowhere" })).toMatchObject({
      ok: false,
      error: expect.stringContaining("Not found"),
    });
  });

  it("skips places with secrets, unless the search starts there", async () => {
    await put(".ssh/config", "needle");
    await put("p/.env", "needle");
    await put("p/a.md", "needle");
    expect(await searchFiles(machine, { query: "needle" })).toMatchObject({ count: 1, matches: [{ path: "/home/alice/p/a.md" }] });
    expect(await searchFiles(machine, { query: "needle", path: ".ssh" })).toMatchObject({ count: 1 });
    expect(await searchFiles(machine, { query: "needle", path: "p/.env" })).toMatchObject({ count: 1 });
  });

  it("skips binary and unreadable files, and says when it stopped early", async () => {
    await put("bin", new Uint8Array([97, 0, 97]));
    await put("closed", "a");
    files.closed.add("/home/alice/closed");
    await put("many", "a\n".repeat(600));
    expect(await searchFiles(machine, { query: "a" })).toMatchObject({ count: 500, truncated: true });
    machine = { ...machine, limits: { ...NATIVE_LIMITS, searchMs: -1 } };
    expect(await searchFiles(machine, { query: "a" })).toEqual({ ok: true, count: 0, matches: [], truncated: true });
  });

  it("shows a long line around its match", async () => {
    await put("long", `${"x".repeat(10_000)}needle${"y".repeat(10_000)}`);
    const result = await searchFiles(machine, { query: "needle" });
    if (!result.ok) throw new Error(result.error);
    expect(result.matches[0]?.content.length).toBe(500);
    expect(result.matches[0]?.content).toContain("needle");
  });
});
