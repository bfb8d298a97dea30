import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryFiles } from "../../test/support/memory/files.ts";
import { type FileMachine, NATIVE_LIMITS } from "../hardware/filesystem.ts";
import { fromBase64 } from "../lib/base64.ts";
import { hardwareCalls } from "../hardware/calls/table.ts";
import { maxResultChars, capText, renderToolOutcome, UNKNOWN_OUTCOME } from "./tool-text.ts";
import { toSyscall } from "./tools.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const data = (value: unknown) => renderToolOutcome({ ok: true, data: value });

test("shows the text of a file unchanged", () => {
  expect(data({ ok: true, content: "     1\ta \\ b", path: "/a", lines: 1, size: 5 }).text).toBe("     1\ta \\ b");
  expect(data({ ok: true, content: "     1\ta", path: "/a", lines: 1, size: 5, more: true }).text).toBe(
    "     1\ta\n[More lines follow these 1: continue with offset]",
  );
  expect(data({ ok: true, content: "", path: "/a", lines: 0, size: 0 }).text).toBe("[The file is empty]");
});

test("shows an invalid picture as text, because a provider would refuse every later request with it", () => {
  const read = (content: unknown) => data({ ok: true, content, path: "/a", size: 3 });
  const image = (mimeType: string, data: string) =>
    read([
      { type: "text", text: "/a" },
      { type: "image", mimeType, data },
    ]);
  for (const block of [image("image/png", "AQID"), image("image/png", "*"), image("image/png", ""), image("image/svg+xml", "PHN2")]) {
    expect(block.images).toEqual([]);
    expect(block.text).toMatch(/^\/a\n\[Content/);
  }
  expect(read(["x", null, { type: "odd" }]).images).toEqual([]);
});

test("renders the results of the real tools", async () => {
  const files = new MemoryFiles();
  const machine: FileMachine = { files, limits: NATIVE_LIMITS, now: () => 0, signal: new AbortController().signal };
  const use = async (name: string, args: Record<string, unknown>) => {
    const request = toSyscall(name, { target: "gsv", ...args });
    if ("error" in request) return `Error: ${request.error}`;
    const call = hardwareCalls.find((call) => call.name === request.call);
    if (call?.runs !== "hardware") throw new Error(`No call ${request.call}`);
    return renderToolOutcome({ ok: true, data: await call.run(machine as never, request.args) });
  };
  expect(await use("Write", { path: "a.txt", content: 'say "hi"\n\ttab\n' })).toMatchObject({
    isError: false,
    text: expect.stringContaining('"ok":true'),
  });
  expect(await use("Read", { path: "a.txt" })).toMatchObject({ text: '     1\tsay "hi"\n     2\t\ttab' });
  expect(await use("Read", { path: "a.txt", limit: "1" })).toMatchObject({
    text: expect.stringMatching(/hi"\n\[More lines follow these 1/),
  });
  expect(await use("Edit", { path: "a.txt", oldString: "nothing", newString: "" })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^Error: /),
  });
  expect(await use("Search", { path: ".", query: "tab" })).toMatchObject({ text: expect.stringContaining('"count":1') });
  expect(await use("Read", { path: "." })).toMatchObject({ text: expect.stringContaining('"files":["a.txt"]') });
  await files.write("/home/alice/p.png", fromBase64(PNG));
  expect(await use("Read", { path: "p.png" })).toEqual({
    text: expect.stringMatching(/^\/home\/alice\/p\.png \(image\/png/),
    images: [{ mimeType: "image/png", data: fromBase64(PNG) }],
    isError: false,
  });
});

test("shows the output of a command and how it ended", () => {
  expect(data({ status: "completed", output: "hi\n", exitCode: 0 })).toMatchObject({ text: "hi\n[Exit code 0]", isError: false });
  expect(data({ status: "running", output: "hi", sessionId: "sh_1" }).text).toBe("hi\n[Still running; sessionId sh_1]");
  expect(data({ status: "failed", output: "oh", error: "Command exited with code 2", exitCode: 2 })).toMatchObject({
    text: "oh\nError: Command exited with code 2",
    isError: true,
  });
});

test("shows text unchanged and other values as compact JSON", () => {
  expect(data("plain").text).toBe("plain");
  expect(data({ ok: true, path: "/", files: ["a"], directories: [] }).text).toBe('{"ok":true,"path":"/","files":["a"],"directories":[]}');
  expect(data(undefined).text).toBe("null");
});

test("failures begin with Error and say if the outcome is unknown", () => {
  expect(data({ ok: false, error: "Not found: /a" })).toEqual({ text: "Error: Not found: /a", images: [], isError: true });
  expect(renderToolOutcome({ ok: false, error: { message: "Offline" } }).text).toBe("Error: Offline");
  expect(renderToolOutcome({ ok: false, error: { message: "Gone", details: { outcome: "unknown" } } }).text).toBe(
    `Error: Gone\n${UNKNOWN_OUTCOME}`,
  );
});

test("a long text is cut to its beginning and its end, with a note between", () => {
  const text = Array.from({ length: 1_000 }, (_, at) => `line ${at}`).join("\n");
  const cut = capText(text, 300, "/var/x.txt");
  expect(cut.isCut).toBe(true);
  expect(cut.text).toMatch(/^line 0\n.*line \d+\n\[\.\.\. \d+ of 8889 characters left out; all of it is in \/var\/x\.txt .*\n.*line 999$/s);
  for (const line of cut.text.split("\n")) expect(line).toMatch(/^line \d+$|^\[/);
  expect(capText("short", 5, null)).toEqual({ text: "short", isCut: false });
});

test("a cut text stays within the limit and splits no character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 10, max: 200 }), (text, chars) => {
      const cut = capText(text, chars, null);
      const [head = "", tail = ""] = cut.text.split(/\n\[\.\.\. \d+ of \d+ characters left out; ask for less at once \.\.\.\]\n/);
      expect(cut.isCut).toBe(text.length > chars);
      expect(head.length + tail.length).toBeLessThanOrEqual(chars);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(cut.text.isWellFormed()).toBe(text.isWellFormed());
    }),
  );
});

test("the results of a turn share its room", () => {
  const limits = { perCallChars: 40_000, perTurnChars: 100_000 };
  expect(maxResultChars(0, 1, limits)).toBe(40_000);
  expect(maxResultChars(0, 10, limits)).toBe(10_000);
  expect(maxResultChars(90_000, 1, limits)).toBe(10_000);
  expect(maxResultChars(200_000, 3, limits)).toBe(2_000);
});
