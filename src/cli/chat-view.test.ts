import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ChatView, type Piece } from "./chat-view.ts";
import type { Look } from "./look.ts";
import { approvalText } from "./tool-call.ts";

type Sent = readonly [signal: string, payload: unknown];

const started: Sent = ["proc.run.started", { runId: "r", reason: "proc.send" }];
const finished = (payload: object): Sent => ["proc.run.finished", { runId: "r", status: "ok", text: null, ...payload }];
const output = (text: string): Sent => ["proc.run.output", { text, thinking: [] }];
const call = (callId: string, name: string, syscall: string, args: object): Sent => [
  "proc.run.tool.started",
  { callId, name, syscall, args },
];
const result = (callId: string, payload: object): Sent => ["proc.run.tool.finished", { callId, name: "Tool", ok: true, ...payload }];
const streamed = (...deltas: string[]): Sent[] =>
  [{ type: "text_start" }, ...deltas.map((delta) => ({ type: "text_delta", delta })), { type: "text_end" }].map((event, at) => [
    "proc.run.stream",
    { seq: at + 1, event },
  ]);

function pieces(look: Look, signals: readonly Sent[]): Piece[] {
  const view = new ChatView(look);
  return signals.flatMap(([signal, payload], at) => view.view(signal, payload, at * 100));
}

function shown(signals: readonly Sent[], look: Look = "plain"): string {
  return pieces(look, signals)
    .map(({ text }) => text)
    .join("");
}

test("an answer is shown once, while it comes", () => {
  const run = [started, ...streamed("Hel", "lo"), output("Hello"), finished({ text: "Hello" })];
  expect(shown(run)).toBe("Hello\n");
  expect(pieces("plain", run.slice(0, 3))).toEqual([{ stream: "stdout", text: "Hel" }]);
  expect(shown([started, output("Hello"), finished({ text: "Hello" })])).toBe("Hello\n");
  expect(shown([finished({ text: "Hello" })])).toBe("Hello\n");
  expect(shown([started, ...streamed("**a**"), finished({ text: "**a**" })], "styled")).toBe("\u001b[1ma\u001b[22m\n");
});

test("tools take a line each", () => {
  const run = [
    started,
    ...streamed("Let me look."),
    output("Let me look."),
    call("1", "Shell", "shell.exec", { target: "macbook", input: "git status\nls" }),
    result("1", { output: { status: "completed", exitCode: 0, output: "" } }),
    call("2", "Read", "fs.read", { target: "gsv", path: "~/a" }),
    call("3", "Search", "fs.search", { target: "gsv", query: "x", path: "~" }),
    result("2", { output: { ok: false, error: "Not found: ~/a\nmore" } }),
    result("3", { ok: false, error: "Offline" }),
    call("4", "Shell", "shell.exec", { input: "false" }),
    result("4", { output: { status: "failed", exitCode: 1, error: "Command exited with code 1", output: "" } }),
    ...streamed("Done."),
    output("Done."),
    finished({ text: "Done." }),
  ];
  expect(shown(run)).toBe(
    [
      "Let me look.",
      "• Shell macbook  git status ...  ok 0.1 s",
      "• Read gsv  ~/a",
      "• Search gsv  x in ~",
      "• Read gsv  ~/a  failed: Not found: ~/a 0.2 s",
      "• Search gsv  x in ~  failed: Offline 0.2 s",
      "• Shell  false  exit 1 0.1 s",
      "Done.",
      "",
    ].join("\n"),
  );
});

test("a pipe gets answers alone; remarks go beside", () => {
  const run = [
    started,
    ...streamed("Hi **the", "re**"),
    output("Hi **there**"),
    call("1", "Read", "fs.read", { target: "gsv", path: "a" }),
    result("1", {}),
    finished({ text: "Hi **there**" }),
  ];
  expect(pieces("raw", run)).toEqual([
    { stream: "stdout", text: "Hi **there**" },
    { stream: "stdout", text: "\n" },
    { stream: "stderr", text: "• Read gsv  a  ok 0.1 s\n" },
  ]);
});

test("a retry says that what was said is void, and the next answer stands alone", () => {
  const run = [
    started,
    ...streamed("Hal"),
    ["proc.run.retrying", { attempt: 2, waitMs: 3_000, why: "overloaded" }] as const,
    ...streamed("Hello"),
    output("Hello"),
    finished({ text: "Hello" }),
  ];
  expect(shown(run)).toBe("Hal\nthe model call failed (overloaded); trying again in 3.0 s; what it has said so far is void\nHello\n");
});

test("errors and stops are said", () => {
  expect(shown([started, ...streamed("par"), finished({ status: "error", error: "No key: set one" })])).toBe(
    "par\nerror: No key: set one\n",
  );
  expect(shown([started, ...streamed("par"), finished({ status: "aborted", aborted: true, text: "par" })])).toBe("par\nstopped\n");
});

test("a request shows all that would run, once, and nothing in it can pass for something else", () => {
  const request: Sent = [
    "proc.run.hil.requested",
    { requestId: "h", toolName: "Shell", syscall: "shell.exec", args: { target: "mac\u001b[2J", input: "a\n\u001b[1Ab\r", cwd: "/x" } },
  ];
  expect(shown([request, request])).toBe(
    "Allow Shell on mac\\x1b[2J?\n    a\n    \\x1b[1Ab\\x0d\n    cwd: /x\n  y: allow it once   a: allow exactly this for 24 h   n: refuse\n",
  );
  const edit = {
    name: "Edit",
    syscall: "fs.edit",
    args: { target: "gsv", path: "f", oldString: "a", newString: "b\nc", replaceAll: true },
  };
  expect(approvalText(edit, "plain")).toContain("    path: f\n    - a\n    + b\n    + c\n    replaceAll: true\n");
});

test("where not all of a request fits, that is said", () => {
  const long = (input: string) => approvalText({ name: "Shell", syscall: "shell.exec", args: { input } }, "plain");
  const many = long(Array.from({ length: 500 }, (_, at) => `line ${at}`).join("\n"));
  expect(many).toContain("line 0\n");
  expect(many).toContain("line 499\n");
  expect(many).toContain("Not all of these 500 lines (3890 characters) are shown: look at all of it before you allow it");
  expect(long("x".repeat(100_000)).length).toBeLessThan(2_000);
  expect(long("x".repeat(15_000))).toContain("x".repeat(15_000));
});

test("whatever of the stream is lost or comes again, the text is whole and there once", () => {
  const words = Array.from({ length: 12 }, (_, at) => `word${at} `);
  const whole = words.join("");
  const stream = streamed(...words);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 14, maxLength: 14 }), (times) => {
      const came = stream.flatMap((signal, at) => Array.from({ length: times[at]! }, () => signal));
      const text = shown([started, ...came, output(whole), ...came.slice(0, 1), finished({ text: whole })]);
      for (const word of words) expect(text.split(word).length).toBe(2);
    }),
    { numRuns: 500 },
  );
});

test("signals it does not know, and payloads that make no sense, show nothing and break nothing", () => {
  const names = ["proc.changed", ...[started, output(""), call("", "", "", {}), result("", {}), finished({})].map(([name]) => name)];
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...names, "proc.run.stream", "proc.run.hil.requested"), fc.anything())), (signals) => {
      // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
      expect(shown(signals)).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
    }),
    { numRuns: 500 },
  );
});
