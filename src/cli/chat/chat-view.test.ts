import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ChatView, type Piece } from "./chat-view.ts";
import type { OutputMode } from "../terminal/text-style.ts";
import type { ActivityEvent } from "../../client/activity.ts";
import { type Question, questionText } from "./tool-call.ts";

const COMMON = { pid: "p", runId: "r", conversationId: "default", queuedCount: 0, timestamp: 0 };

/** Adds the fields that do not matter to the tests. */
function eventOf(signal: string, payload: object): ActivityEvent {
  return { signal, payload: { ...COMMON, ...payload } } as unknown as ActivityEvent;
}

const start = eventOf("proc.run.started", { reason: "proc.send" });
const finish = (payload: object) => eventOf("proc.run.finished", { status: "ok", text: null, ...payload });
const output = (text: string) => eventOf("proc.run.output", { text, thinking: [] });
const call = (callId: string, name: string, syscall: string, args: object) =>
  eventOf("proc.run.tool.started", { callId, name, syscall, args });
const result = (callId: string, payload: object) => eventOf("proc.run.tool.finished", { callId, name: "Tool", ok: true, ...payload });
const piece = (seq: number, event: object, modelCall = 1) =>
  eventOf("proc.run.stream", { modelCall, seq, event: { contentIndex: 0, ...event } });
const streamPieces = (...deltas: string[]): ActivityEvent[] =>
  [{ type: "text_start" }, ...deltas.map((delta) => ({ type: "text_delta", delta })), { type: "text_end" }].map((event, at) =>
    piece(at + 1, event),
  );

function pieces(look: OutputMode, events: readonly ActivityEvent[]): Piece[] {
  const view = new ChatView(look);
  return events.flatMap(({ signal, payload }, at) => view.showEvent(eventOf(signal, { ...payload, timestamp: at * 100 }), at * 100));
}

function render(events: readonly ActivityEvent[], look: OutputMode = "plain"): string {
  return pieces(look, events)
    .map(({ text }) => text)
    .join("");
}

test("an answer is shown once, while it streams", () => {
  const run = [start, ...streamPieces("Hel", "lo"), output("Hello"), finish({ text: "Hello" })];
  expect(render(run)).toBe("Hello\n");
  expect(pieces("plain", run.slice(0, 3))).toEqual([{ stream: "stdout", text: "Hel" }]);
  expect(render([start, output("Hello"), finish({ text: "Hello" })])).toBe("Hello\n");
  expect(render([finish({ text: "Hello" })])).toBe("Hello\n");
  expect(render([start, ...streamPieces("**a**"), finish({ text: "**a**" })], "styled")).toBe("\u001b[1ma\u001b[22m\n");
});

test("merged pieces continue where the answer stopped, and nothing is shown after a missing piece", () => {
  const [begin, a, b, c] = streamPieces("a", "b", "c");
  const as = (one: ActivityEvent, firstSeq: number, delta: string) =>
    eventOf(one.signal, { ...one.payload, firstSeq, event: { type: "text_delta", contentIndex: 0, delta } });
  expect(render([start, begin!, a!, as(c!, 3, "bc")])).toBe("abc");
  expect(render([start, begin!, a!, c!])).toBe("a");
  const fromStart = as(b!, 1, "ab");
  expect(render([start, fromStart, c!])).toBe("abc");
});

test("each tool call takes one line", () => {
  const run = [
    start,
    ...streamPieces("Let me look."),
    output("Let me look."),
    call("1", "Shell", "shell.exec", { target: "macbook", input: "git status\nls" }),
    result("1", { output: "clean" }),
    call("2", "Read", "fs.read", { target: "gsv", path: "~/a" }),
    call("3", "Search", "fs.search", { target: "gsv", query: "x", path: "~" }),
    result("2", { ok: false, error: "Error: Not found: ~/a" }),
    result("3", { ok: false, error: "Offline" }),
    call("4", "Shell", "shell.exec", { input: "false" }),
    result("4", { ok: false, error: "what it said\nError: Command exited with code 1" }),
    ...streamPieces("Done."),
    output("Done."),
    finish({ text: "Done." }),
  ];
  expect(render(run)).toBe(
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

test("a script takes one line, and its calls are indented below it as they happen", () => {
  const code = "// Count the tasks\nconst a = await fs.read({ path: 'a' });";
  const ofScript = (event: ActivityEvent) => eventOf(event.signal, { ...event.payload, scriptCallId: "s" });
  const run = [
    start,
    call("s", "CodeMode", "codemode.exec", { code }),
    ofScript(call("1", "Read", "fs.read", { path: "~/a" })),
    ofScript(result("1", { name: "Read", output: "text", durationMs: 100 })),
    ofScript(call("2", "Shell", "shell.exec", { target: "macbook", input: "uptime" })),
    ofScript(eventOf("proc.run.hil.requested", { callId: "3", toolName: "Write", syscall: "fs.write", args: { path: "~/b" } })),
    ofScript(result("2", { name: "Shell", ok: false, error: "Offline", durationMs: 100 })),
    ofScript(result("3", { name: "Write", ok: false, error: "Tool execution denied by user", outcome: "denied" })),
    result("s", { name: "CodeMode", output: '{"status":"completed","result":3}', durationMs: 900 }),
    call("t", "CodeMode", "codemode.exec", { code: "return x;" }),
    result("t", {
      name: "CodeMode",
      ok: false,
      error:
        '{"status":"failed","error":"x is not defined","stack":"ReferenceError: x is not defined\\n    at script.js:1:8","logs":["[warn] a"]}',
      durationMs: 100,
    }),
  ];
  expect(render(run)).toBe(
    [
      "• Script  Count the tasks",
      "  • Read  ~/a  ok 0.1 s",
      "  • Shell macbook  uptime  failed: Offline 0.1 s",
      "  • Write  ~/b  denied",
      "• Script  Count the tasks  ok 0.9 s",
      "• Script  return x;  failed: x is not defined 0.1 s",
      "",
    ].join("\n"),
  );
});

test("what a script logged and returned is shown on request, with its stack if it failed", () => {
  const details = (payload: object) => {
    const view = new ChatView("plain");
    for (const event of [start, call("s", "CodeMode", "codemode.exec", { code: "return 1;" }), result("s", payload)])
      view.showEvent(event, 0);
    return view
      .showDetails()
      .map(({ text }) => text)
      .join("");
  };
  expect(details({ output: '{"status":"completed","result":{"n":1},"logs":["a","[warn] b"]}' })).toBe(
    'Script  return 1;\n  a\n  [warn] b\n  {\n    "n": 1\n  }\n',
  );
  const failed = { status: "failed", error: "no", stack: "Error: no\n    at script.js:1:7", logs: ["a"] };
  expect(details({ ok: false, error: JSON.stringify(failed) })).toBe("Script  return 1;\n  a\n  Error: no\n      at script.js:1:7\n");
});

test("in a pipe only answers go to stdout; remarks go to stderr", () => {
  const run = [
    start,
    ...streamPieces("Hi **the", "re**"),
    output("Hi **there**"),
    call("1", "Read", "fs.read", { target: "gsv", path: "a" }),
    result("1", {}),
    finish({ text: "Hi **there**" }),
  ];
  expect(pieces("raw", run)).toEqual([
    { stream: "stdout", text: "Hi **there**" },
    { stream: "stdout", text: "\n" },
    { stream: "stderr", text: "• Read gsv  a  ok 0.1 s\n" },
  ]);
});

test("a retry voids the text so far, and the next answer is shown whole", () => {
  const run = [
    start,
    ...streamPieces("Hal"),
    eventOf("proc.run.retrying", { attempt: 2, waitMs: 3_000, why: "overloaded" }),
    ...streamPieces("Hello"),
    output("Hello"),
    finish({ text: "Hello" }),
  ];
  expect(render(run)).toBe("Hal\nthe model call failed (overloaded); retrying in 3.0 s; ignore the answer so far\nHello\n");
});

test("errors and stops are shown", () => {
  expect(render([start, ...streamPieces("par"), finish({ status: "error", error: "No key: set one" })])).toBe(
    "par\nerror: No key: set one\n",
  );
  expect(render([start, ...streamPieces("par"), finish({ status: "aborted", aborted: true, text: "par" })])).toBe("par\nstopped\n");
});

test("runs that end together show their end once", () => {
  const failed = finish({ status: "error", error: "No key: set one" });
  expect(render([start, failed, eventOf("chat.complete", {}), failed, start, failed])).toBe(
    "error: No key: set one\nerror: No key: set one\n",
  );
});

test("the last text of the history is not shown again when its event arrives", () => {
  const view = new ChatView("plain");
  view.markShown("Hello");
  const pieces = [output("Hello"), output("Hello"), finish({ text: "Hello" })].flatMap((event) => view.showEvent(event, 0));
  expect(pieces.map(({ text }) => text).join("")).toBe("Hello\n");
});

const QUESTION: Question = {
  requestId: "h",
  runId: "r",
  conversationId: "default",
  callId: "c",
  syscall: "",
  args: {},
  target: "gsv",
  cwd: "/",
  why: "",
  title: "",
  explanation: "",
};

test("a question shows everything that would run, with control characters escaped", () => {
  const args = { target: "mac", input: "a\n\u001b[1Ab\r\u202e", cwd: "/x" };
  const question = {
    ...QUESTION,
    syscall: "shell.exec",
    args,
    target: "mac",
    cwd: "",
    title: "Run a command on mac",
    explanation: "Commands on your machines need your OK.",
  };
  expect(questionText(question, "plain")).toBe(
    [
      "? Run a command on mac?",
      "  input:",
      "    | a",
      "    | ⟨U+001B⟩[1Ab⟨U+000D⟩⟨U+202E⟩",
      "  cwd: /x",
      "  Commands on your machines need your OK.",
    ].join("\n"),
  );
});

test("a long request is cut with a remark, and can be shown whole", () => {
  const question = { ...QUESTION, syscall: "fs.write", args: { path: "~/a", content: "x".repeat(100_000) } };
  expect(questionText(question, "plain")).toContain("Not shown in full: press w");
  expect(questionText(question, "plain").length).toBeLessThan(6_000);
  expect(questionText(question, "plain", true)).toContain("x".repeat(100_000));
});

test("a question about a budget has its own text", () => {
  const question = { ...QUESTION, syscall: "proc.budget", why: "2 model calls are used up", title: "Continue beyond the budget" };
  expect(questionText(question, "plain")).toBe("? Continue beyond the budget?\n  2 model calls are used up");
});

test("an answer that restarts after a crash continues where the screen stopped", () => {
  const view = new ChatView("plain");
  const text = (events: readonly ActivityEvent[]) => events.flatMap((event) => view.showEvent(event, 0)).map(({ text }) => text);
  const delta = (text: string) => ({ type: "text_delta", delta: text });
  expect(text([start, piece(1, { type: "text_start" }), piece(2, delta("one ")), piece(3, delta("two "))]).join("")).toBe("one two ");
  expect(view.showLive(null)).toEqual([]);
  const again = [piece(1, { type: "text_start" }), piece(2, delta("one two")), piece(3, delta(" three"))];
  expect(text([...again, output("one two three"), finish({ text: "one two three" })]).join("")).toBe("three\n");
});

test("an answer that differs after a crash is shown whole, with a remark", () => {
  const view = new ChatView("plain");
  const text = (events: readonly ActivityEvent[]) => events.flatMap((event) => view.showEvent(event, 0)).map(({ text }) => text);
  text([start, piece(1, { type: "text_start" }), piece(2, { type: "text_delta", delta: "one" })]);
  view.showLive(null);
  const again = [piece(1, { type: "text_start" }), piece(2, { type: "text_delta", delta: "two" })];
  expect(text([...again, output("two"), finish({ text: "two" })]).join("")).toBe("\nthe answer was interrupted; it starts again\ntwo\n");
});

test("an answer that does not restart is reported as cut off", () => {
  const view = new ChatView("plain");
  const text = (events: readonly ActivityEvent[]) => events.flatMap((event) => view.showEvent(event, 0)).map(({ text }) => text);
  text([start, piece(1, { type: "text_start" }), piece(2, { type: "text_delta", delta: "one" })]);
  view.showLive(null);
  expect(text([start, output("two"), finish({ text: "two" })]).join("")).toBe("\nthe answer was interrupted\ntwo\n");
});

test("a client that joins in the middle of an answer sees what has arrived and then the rest", () => {
  const view = new ChatView("plain");
  const live = { runId: "r", conversationId: "default", modelCall: 2, seq: 5, blocks: [{ type: "text" as const, text: "so far " }] };
  const pieces = [
    ...view.showLive(live),
    ...view.showEvent(piece(6, { type: "text_delta", delta: "and on" }, 2), 0),
    ...view.showLive({ ...live, seq: 8, blocks: [{ type: "text" as const, text: "so far and on and" }] }),
    ...view.showEvent(piece(9, { type: "text_delta", delta: " on" }, 2), 0),
    ...view.showEvent(output("so far and on and on"), 0),
  ];
  expect(pieces.map(({ text }) => text).join("")).toBe("so far and on and on\n");
});

test("an answer that arrives both as a whole and as a live answer is shown once", () => {
  const view = new ChatView("plain");
  const run = [start, output("All of it."), finish({ text: "All of it." })];
  const live = { runId: "r", conversationId: "default", modelCall: 1, seq: 9, blocks: [{ type: "text" as const, text: "All of it." }] };
  const pieces = [
    ...view.showEvent(piece(1, { type: "text_start" }), 0),
    ...view.showEvent(piece(2, { type: "text_delta", delta: "All " }), 0),
    ...run.slice(1).flatMap((event) => view.showEvent(event, 0)),
    ...view.showLive(live),
    ...view.showLive(null),
    // Sent before the client asked for the live answer, and delivered after it.
    ...view.showEvent(piece(1, { type: "text_start" }), 0),
    ...view.showEvent(piece(2, { type: "text_delta", delta: "All of it." }), 0),
    ...view.showEvent(piece(10, { type: "done" }), 0),
  ];
  expect(pieces.map(({ text }) => text).join("")).toBe("All of it.\n");
});

test("thoughts are folded into one line, unfolded on request, and shown in verbose mode", () => {
  const thinking = [
    piece(1, { type: "thinking_start" }),
    piece(2, { type: "thinking_delta", delta: "hm\u001b" }),
    piece(3, { type: "thinking_end" }),
    piece(4, { type: "text_start" }),
    piece(5, { type: "text_delta", delta: "Yes" }),
  ];
  const folded = new ChatView("plain");
  const all = (view: ChatView) => thinking.flatMap((event, at) => view.showEvent(event, at * 500));
  const joined = (pieces: readonly Piece[]) => pieces.map(({ text }) => text).join("");
  expect(joined(all(folded))).toBe("• thinking  1.0 s\nYes");
  expect(joined(folded.showDetails())).toBe("\nhm\\x1b\n");
  expect(joined(all(new ChatView("plain", { isVerbose: true })))).toBe("• thinking\nhm\\x1b\nYes");
});

test("messages of people are shown in order", () => {
  const view = new ChatView("plain", { showsPeople: true });
  const pieces = view.showEvent(eventOf("proc.changed", { changes: ["messages"], role: "user", content: "a\u001b\nb" }), 0);
  expect(pieces.map(({ text }) => text).join("")).toBe("\n› a\\x1b\n  b\n\n");
});

test("the text is complete and shown once, whichever pieces are lost or repeated", () => {
  const words = Array.from({ length: 12 }, (_, at) => `word${at} `);
  const whole = words.join("");
  const stream = streamPieces(...words);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 14, maxLength: 14 }), (times) => {
      const received = stream.flatMap((event, at) => Array.from({ length: times[at]! }, () => event));
      const text = render([start, ...received, output(whole), ...received.slice(0, 1), finish({ text: whole })]);
      for (const word of words) expect(text.split(word).length).toBe(2);
    }),
    { numRuns: 500 },
  );
});

test("unknown signals show nothing", () => {
  expect(render([eventOf("proc.run.started.twice", {}), eventOf("unknown", { text: "x" })])).toBe("");
});

test("no control character of a model, a tool or an error reaches the terminal", () => {
  const words = fc.string({ unit: "binary" });
  const event = fc.oneof(
    words.map(output),
    words.map((delta) => piece(1, { type: "text_delta", delta })),
    words.map((text) => call(text, text, text, { target: text, path: text })),
    words.map((error) => result(error, { ok: false, error })),
    words.map((text) => call("s", "CodeMode", "codemode.exec", { code: text })),
    words.map((text) =>
      eventOf("proc.run.tool.started", { callId: text, scriptCallId: "s", name: text, syscall: text, args: { path: text } }),
    ),
    words.map((text) => result(text, { scriptCallId: "s", name: text, ok: false, error: text })),
    words.map((text) => result("s", { ok: false, error: JSON.stringify({ status: "failed", error: text, stack: text, logs: [text] }) })),
    words.map((why) => eventOf("proc.run.retrying", { attempt: 2, waitMs: 1, why })),
    words.map((text) => finish({ status: "error", text, error: text, reason: text })),
    words.map((content) => eventOf("proc.changed", { changes: ["messages"], role: "user", content })),
  );
  fc.assert(
    fc.property(fc.array(event), (events) => {
      // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
      expect(render(events)).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
    }),
    { numRuns: 500 },
  );
});
