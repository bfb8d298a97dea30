// A process against a scripted model and a scripted kernel: what it says, runs, waits for and stops, and that a crash at any
// moment loses nothing, repeats nothing and leaves nothing unfinished.

import { beforeEach, describe, expect, it } from "vitest";
import { yieldToEventLoop } from "../lib/yield.ts";
import { deferred, type Deferred } from "../lib/deferred.ts";
import type { SysOutcome } from "./kernel-port.ts";
import { LEASE_MS } from "./rows/state.ts";
import { question, read, text, tool, World } from "../../test/support/process-world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});

describe("a run", () => {
  it("answers a message, and reports each step in order", async () => {
    world.on("hi", [text("hello")]);
    expect(world.say("hi")).toEqual({ status: "started", runId: "run-1" });
    await world.idle();
    expect(world.history()).toEqual(["user: hi", "assistant: hello"]);
    await expect.poll(() => world.ends()).toEqual([["run-1", "ok", "hello"]]);
    expect(world.events.map(({ seq, signal }) => `${seq} ${signal}`)).toEqual([
      "1 proc.run.started",
      "2 proc.changed",
      "3 proc.changed",
      "4 proc.changed",
      "5 proc.changed",
      "6 proc.run.output",
      "7 proc.run.finished",
      "8 chat.complete",
    ]);
    expect(world.process.events.listCompleteAfter(6, 10)?.map(({ seq }) => seq)).toEqual([7, 8]);
    expect(world.process.events.listCompleteAfter(99, 10)).toBeNull();
  });

  it("is the same run if its id is sent again", async () => {
    world.say("hi", { runId: "mine" });
    expect(world.say("hi", { runId: "mine" })).toEqual({ status: "started", runId: "mine" });
    await world.idle();
    world.say("hi", { runId: "mine" });
    expect(world.history()).toHaveLength(2);
  });

  it("runs the calls of the model one after the other on the gateway, and gives it the results", async () => {
    const calls = [text("let me look"), read("/a"), read("/b"), tool("Fly", {}), tool("Read", { target: "gsv" })];
    world.on("what is in a and b?", calls, [text("done")]);
    world.say("what is in a and b?");
    await world.idle();
    expect(world.effects.map(({ syscall, args }) => `${syscall} ${String(args.path)}`)).toEqual(["fs.read /a", "fs.read /b"]);
    expect(world.history().slice(2)).toEqual([
      "result: content of /a",
      "result: content of /b",
      'failed: Error: Unknown tool "Fly". The tools are Read, Write, Edit, Delete, Search, Shell, CodeMode',
      expect.stringMatching(/^failed: Error: path is required/),
      "assistant: done",
    ]);
    expect(world.requests[1]?.messages.filter(({ role }) => role === "tool")).toHaveLength(4);
  });

  it("runs calls on devices in parallel", async () => {
    const outcomes = new Map<string, Deferred<SysOutcome>>();
    world.sys = ({ callId }) => {
      const outcome = deferred<SysOutcome>();
      outcomes.set(callId, outcome);
      return outcome.promise;
    };
    const [first, second] = [read("/a", "lap"), read("/b", "desk")] as { id: string }[];
    world.on("compare", [first as never, second as never], [text("both")]);
    world.say("compare");
    await expect.poll(() => outcomes.size).toBe(2);
    outcomes.get(second!.id)?.resolve({ kind: "done", isError: false, output: "B" });
    outcomes.get(first!.id)?.resolve({ kind: "done", isError: false, output: "A" });
    await world.idle();
    expect(world.history().slice(2)).toEqual(["result: A", "result: B", "assistant: both"]);
  });

  it("ends with a message if the model fails or says nothing", async () => {
    world.on("one", { error: "no key" });
    world.on("two", []);
    world.say("one");
    await world.idle();
    world.say("two");
    await world.idle();
    expect(world.history()).toEqual(["user: one", "system: Generation failed: no key", "user: two", "system: Generation failed."]);
    await expect.poll(() => world.ends().map(([, status]) => status)).toEqual(["error", "error"]);
  });

  it("waits for a person, and continues after the decision", async () => {
    let isAllowed = false;
    world.sys = async () =>
      isAllowed ? { kind: "done", isError: false, output: "deleted" } : { kind: "asked", request: question("q", "r") };
    world.on("delete x", [tool("Delete", { target: "gsv", path: "/x" })], [text("gone")]);
    world.say("delete x");
    await expect.poll(() => world.process.activeRun?.pausedAt).toBe(world.now);
    expect(world.effects).toHaveLength(1);
    isAllowed = true;
    world.process.handleDecision("q");
    world.process.handleDecision("q");
    await world.idle();
    expect(world.effects).toHaveLength(2);
    expect(world.history().at(-1)).toBe("assistant: gone");
  });

  it("continues if the answer arrives before the question, which can happen between objects", async () => {
    let isAllowed = false;
    world.sys = async () => {
      if (isAllowed) return { kind: "done", isError: false, output: "deleted" };
      isAllowed = true;
      world.process.handleDecision("q");
      await yieldToEventLoop();
      return { kind: "asked", request: question("q", "r") };
    };
    world.on("delete x", [tool("Delete", { target: "gsv", path: "/x" })], [text("gone")]);
    world.say("delete x");
    await world.idle();
    expect(world.effects).toHaveLength(2);
    expect(world.history().at(-1)).toBe("assistant: gone");
  });

  it("sends every call that shares a question", async () => {
    let isAllowed = false;
    world.sys = async () =>
      isAllowed ? { kind: "done", isError: false, output: "written" } : { kind: "asked", request: question("q", "r") };
    const write = () => tool("Write", { target: "laptop", path: "/x", content: "x" });
    world.on("write x twice", [write(), write()], [text("written")]);
    world.say("write x twice");
    await expect.poll(() => world.effects.length).toBe(2);
    await expect.poll(() => world.events.filter(({ signal }) => signal === "proc.run.hil.requested").length).toBe(2);
    isAllowed = true;
    world.process.handleDecision("q");
    await world.idle();
    expect(world.effects).toHaveLength(4);
    expect(world.history().at(-1)).toBe("assistant: written");
  });

  it("ends when it makes no progress for too long", async () => {
    world.sys = () => new Promise(() => {});
    world.on("look", [read("/a")]);
    world.say("look");
    await expect.poll(() => world.effects.length).toBe(1);
    await expect.poll(() => world.wakeAt).toBe(world.now + LEASE_MS);
    world.now += LEASE_MS;
    world.process.onWake();
    await world.idle();
    await expect.poll(() => world.ends()).toEqual([["run-1", "error", null]]);
    expect(world.history().slice(-2)).toEqual([
      "failed: Error: User interrupted tool execution",
      "system: The run was ended: This run made no progress for too long.",
    ]);
  });
});

describe("a message that arrives during a run", () => {
  it("joins the run between two steps if it is of the same conversation", async () => {
    world.modelHolds = deferred();
    world.on("first", [read("/a")]);
    world.on("second", [text("both answered")]);
    world.say("first");
    expect(world.say("second")).toMatchObject({ queued: true });
    world.modelHolds.resolve();
    await world.idle();
    expect(world.history()).toEqual([
      "user: first",
      "assistant: toolCall",
      "result: content of /a",
      "user: second",
      "assistant: both answered",
    ]);
    await expect
      .poll(() => world.ends())
      .toEqual([
        ["run-2", "ok", "both answered"],
        ["run-1", "ok", "both answered"],
      ]);
  });

  it("waits for the end of the run if it is of another conversation", async () => {
    world.modelHolds = deferred();
    world.on("first", [text("one")]);
    world.on("second", [text("two")]);
    world.say("first");
    world.say("second", { conversationId: "other" });
    world.modelHolds.resolve();
    await world.idle();
    expect([world.history(), world.history("other")]).toEqual([
      ["user: first", "assistant: one"],
      ["user: second", "assistant: two"],
    ]);
    await expect.poll(() => world.ends()).toHaveLength(2);
  });
});

describe("abort", () => {
  it("ends a run whatever the model is doing, and lets the next one begin", async () => {
    world.modelHolds = deferred();
    world.on("long", [text("never")]);
    world.on("short", [text("next")]);
    world.say("long");
    await expect.poll(() => world.requests.length).toBe(1);
    world.say("short", { conversationId: "other" });
    expect(world.process.abort()).toEqual({ aborted: true, runId: "run-1", continuedQueuedRunId: "run-2" });
    world.modelHolds.resolve();
    await world.idle();
    expect(world.history()).toEqual(["user: long"]);
    await expect
      .poll(() => world.ends())
      .toEqual([
        ["run-1", "aborted", null],
        ["run-2", "ok", "next"],
      ]);
    expect(world.process.abort()).toEqual({ aborted: false, runId: null, continuedQueuedRunId: null });
  });

  it("leaves a result for each call, and late results change nothing", async () => {
    const late = deferred<SysOutcome>();
    world.sys = () => late.promise;
    world.on("look", [read("/a"), read("/b")]);
    world.on("and now?", [text("again")]);
    world.say("look");
    await expect.poll(() => world.effects.length).toBe(1);
    expect(world.process.abort()).toMatchObject({ interruptedToolCalls: 2 });
    late.resolve({ kind: "done", isError: false, output: "late" });
    await world.idle();
    expect(world.history().slice(2)).toEqual([
      "failed: Error: User interrupted tool execution",
      "failed: Error: User interrupted tool execution",
    ]);
    world.say("and now?");
    await world.idle();
    expect(world.effects).toHaveLength(1);
    expect(world.history().at(-1)).toBe("assistant: again");
  });

  it("keeps the partial answer, marked as stopped, and tells the next model so", async () => {
    world.modelHolds = deferred();
    world.pieces = [
      { type: "thinking_start", index: 0 },
      { type: "thinking_delta", index: 0, delta: "hm" },
      { type: "text_start", index: 1 },
      { type: "text_delta", index: 1, delta: "Once upon a" },
      { type: "toolcall_start", index: 2, id: "c", name: "Read" },
    ];
    world.on("go on", [text("time")]);
    world.say("a story");
    await expect.poll(() => world.process.liveAnswer()?.seq).toBe(5);
    world.process.abort();
    world.modelHolds = null;
    world.say("go on");
    await world.idle();
    const { messages } = world.process.conversation.history({}, null);
    expect(messages[1]).toMatchObject({
      role: "assistant",
      content: { text: "Once upon a", thinking: [{ thinking: "hm" }], toolCalls: [], stopped: true },
    });
    expect(world.requests.at(-1)?.messages.slice(1)).toMatchObject([
      { role: "assistant", content: [{ type: "text", text: "Once upon a" }] },
      { role: "user", content: [{ text: expect.stringMatching(/stopped this answer/) }, { text: "go on" }] },
    ]);
  });

  it("keeps nothing if nothing has arrived yet", async () => {
    world.modelHolds = deferred();
    world.pieces = [{ type: "text_start", index: 0 }];
    world.say("a story");
    await expect.poll(() => world.process.liveAnswer()?.seq).toBe(1);
    world.process.abort();
    expect(world.history()).toEqual(["user: a story"]);
  });

  it("can put the queue of the conversation on hold until it is resumed", async () => {
    world.modelHolds = deferred();
    world.say("first");
    world.say("second", { runId: "second" });
    world.say("elsewhere", { runId: "elsewhere", conversationId: "other" });
    expect(world.process.abort({ pauseQueue: true })).toMatchObject({ aborted: true, pausedCount: 1, continuedQueuedRunId: "elsewhere" });
    world.modelHolds.resolve();
    world.modelHolds = null;
    world.say("third", { runId: "third" });
    await expect.poll(() => world.ends().map(([runId]) => runId)).toEqual(["run-1", "elsewhere", "third"]);
    expect(world.process.queue.list()).toMatchObject([{ runId: "second", paused: true }]);
    expect(world.process.runnableCount).toBe(0);
    world.die();
    world.begin();
    expect(world.process.resumeQueue()).toEqual({ resumed: 1 });
    await world.idle();
    await expect.poll(() => world.ends().at(-1)?.[0]).toBe("second");
    expect(world.process.resumeQueue()).toEqual({ resumed: 0 });
  });

  it("stops a run by the id of a message that has joined it", async () => {
    const outcome = deferred<SysOutcome>();
    world.sys = () => outcome.promise;
    world.on("look", [read("/a")]);
    world.say("look");
    await expect.poll(() => world.effects.length).toBe(1);
    world.say("and more", { runId: "joined" });
    world.modelHolds = deferred();
    outcome.resolve({ kind: "done", isError: false, output: "a" });
    await expect.poll(() => world.requests.length).toBe(2);
    expect(world.process.abort({ runId: "joined" })).toMatchObject({ aborted: true, runId: "run-1" });
    await expect.poll(() => world.ends()).toHaveLength(2);
  });

  it("lets the next run begin, whatever the run was waiting for", async () => {
    world.preparing = new Promise(() => {});
    world.say("stuck");
    await expect.poll(() => world.preparations).toBe(1);
    world.say("next", { conversationId: "other" });
    world.preparing = Promise.resolve();
    world.process.abort();
    await world.idle();
    expect(world.history("other")).toHaveLength(2);
  });

  it("leaves a history unchanged if it is being compacted", async () => {
    world.say("x".repeat(20_000));
    await world.idle();
    world.process.conversation.setPolicy({ overflow: "auto-compact", keepLast: 1, compactAtPressure: 0.5 });
    world.modelHolds = deferred();
    world.say("more");
    await expect.poll(() => world.requests.at(-1)?.system).toMatch(/^Summarize/);
    expect(world.process.abort()).toMatchObject({ aborted: true });
    world.modelHolds.resolve();
    await world.idle();
    expect(world.history()).toHaveLength(3);
    expect(world.archives.size).toBe(0);
  });

  it("withdraws a queued message, and leaves the active run alone", async () => {
    world.modelHolds = deferred();
    world.say("first");
    world.say("second", { runId: "second", conversationId: "other" });
    expect(world.process.abort({ runId: "second" })).toMatchObject({ aborted: true, runId: "second" });
    world.modelHolds.resolve();
    await world.idle();
    expect(world.history("other")).toEqual([]);
    expect(world.history()).toHaveLength(2);
  });
});

it("continues after a crash at any moment: nothing is lost or doubled, and every run ends once", async () => {
  for (let crashAt = 0; crashAt < 60; crashAt++) {
    const one = new World();
    const results = new Map<string, string>();
    let done = 0;
    // A kernel that runs each call once, even if it is sent repeatedly.
    one.sys = async ({ callId, args }) => {
      if (!results.has(callId)) results.set(callId, `${++done}: ${String(args.path)}`);
      return { kind: "done", isError: false, output: results.get(callId)! };
    };
    one.on("one", [read("/a"), read("/b", "lap")], [read("/c")], [text("end of one")]);
    one.on("two", [text("end of two")]);
    one.say("one", { runId: "one" });
    one.say("two", { runId: "two", conversationId: "other" });
    for (let step = 0; step < crashAt; step++) await Promise.resolve();
    if (crashAt > 20) await new Promise((resolve) => setImmediate(resolve));
    one.sql.commit();
    one.begin();
    one.process.onWake();
    await one.idle();
    const said = one.history();
    expect(
      said.filter((line) => line === "user: one"),
      `crash at ${crashAt}`,
    ).toHaveLength(1);
    expect(one.history("other").filter((line) => line === "user: two")).toHaveLength(1);
    expect([...results.values()].toSorted()).toEqual(["1: /a", "2: /b", "3: /c"]);
    expect(said.filter((line) => line.startsWith("result: "))).toEqual(["result: 1: /a", "result: 2: /b", "result: 3: /c"]);
    const ends = one.process.events.listCompleteAfter(0, 1_000)!.filter(({ signal }) => signal === "proc.run.finished");
    expect(ends.map(({ payload }) => payload.runId)).toEqual(["one", "two"]);
  }
});
