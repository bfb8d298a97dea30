// What limits a run (its context, its budget, the size of tool outputs), and what followers see of it.

import { beforeEach, describe, expect, it } from "vitest";
import { deferred } from "../../lib/deferred.ts";
import { question, read, text, USAGE, World } from "../../../test/support/process-world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});

const long = (char: string, tokens: number) => char.repeat(Math.floor((tokens * 4) / 1.15));
const events = () => world.process.events.listCompleteAfter(0, 10_000)!;
const runEnds = () => events().filter((event) => event.signal === "proc.run.finished");
const changes = () => events().filter((event) => event.signal === "proc.changed");
const reasons = () => runEnds().map(({ payload }) => `${payload.status} ${payload.reason}`);
const contexts = () => changes().flatMap(({ payload }) => payload.context ?? []);

describe("the context", () => {
  it("is reported with each answer of the model and is part of a history page", async () => {
    world.on("hi", [text("hello")]);
    world.say("hi");
    await world.idle();
    expect(contexts().map(({ source, messageCount, lastMessageId }) => [source, messageCount, lastMessageId])).toEqual([
      ["provider", 2, 2],
    ]);
    const { context, pendingHil } = world.process.conversation.history({}, { requestId: "q" });
    expect(pendingHil).toEqual({ requestId: "q" });
    expect(context).toEqual(contexts().at(-1));
    expect(context).toMatchObject({ provider: "test", inputTokens: USAGE.totalTokens, availableInputTokens: 9_900, level: "ok" });
  });

  it("counts messages that were added since it was measured", async () => {
    world.on("hi", [text("hello")]);
    world.say("hi");
    await world.idle();
    world.modelHolds = deferred();
    world.say(long("x", 5_000));
    const before = world.process.conversation.history({}, null).context!;
    expect(before.source).toBe("estimate");
    expect(before.inputTokens).toBeGreaterThan(5_000);
    world.modelHolds.resolve();
    await world.idle();
  });

  it("ends the run with an error message if the policy is to fail", async () => {
    world.process.conversation.setPolicy({ overflow: "fail" });
    world.say(long("x", 9_500), { runId: "big" });
    await world.idle();
    expect(reasons()).toEqual(["error context.policy.fail"]);
    expect(world.requests).toEqual([]);
    expect(world.history().at(-1)).toMatch(/this conversation's policy is fail.*Compact it manually/);
  });

  it("continues with what fits if the policy is manual", async () => {
    world.say(long("x", 9_500));
    await world.idle();
    world.say("more");
    await world.idle();
    expect(reasons()).toEqual(["ok turn.complete", "ok turn.complete"]);
  });
});

describe("auto-compaction", () => {
  const fill = async (count: number, tokens: number) => {
    for (let at = 0; at < count; at++) {
      world.on(long(String(at), tokens), [text(`a${at}`)]);
      world.say(long(String(at), tokens));
      await world.idle();
    }
  };

  it("makes room before a model call, reports it, and continues", async () => {
    await fill(3, 2_500);
    world.process.conversation.setPolicy({ overflow: "auto-compact", keepLast: 1 });
    world.summary = [text("in short")];
    world.on(long("z", 2_500), [text("answer")]);
    world.say(long("z", 2_500), { runId: "last" });
    await world.idle();
    expect(world.history()).toEqual([
      expect.stringMatching(/^system: This conversation was compacted: 6 .*in short$/s),
      expect.stringMatching(/^user: z/),
      "assistant: answer",
    ]);
    expect(reasons().at(-1)).toBe("ok turn.complete");
    const lifecycle = changes().flatMap(({ payload }) => payload.event ?? []);
    expect(lifecycle).toEqual(["conversation.policy", "conversation.compacted", "conversation.auto_compacted"]);
    expect(world.archives.size).toBe(1);
    expect(world.process.readSpent("last")).toMatchObject({ modelCalls: 2 });
  });

  it("keeps the request that is being worked on when it is compacted", async () => {
    world.process.conversation.setPolicy({ overflow: "auto-compact", keepLast: 1 });
    world.sys = async () => ({ kind: "done", isError: false, output: long("r", 5_000) });
    world.on("find the needle", [read("/a")], [read("/b")]);
    world.summary = [text("in short")];
    world.answer = () => [text("done")];
    world.say("find the needle");
    await world.idle();
    expect(world.history()[0]).toMatch(/in short\n\nThe request in progress was:\n\nfind the needle$/);
    expect(
      world
        .history()
        .slice(1)
        .map((line) => line.slice(0, 12)),
    ).toEqual(["assistant: t", "result: rrrr", "assistant: d"]);
  });

  it("ends the run and says what to do if nothing is left to compact", async () => {
    world.process.conversation.setPolicy({ overflow: "auto-compact", keepLast: 0 });
    world.say(long("x", 12_000));
    await world.idle();
    expect(reasons()).toEqual(["error context.auto_compact.empty"]);
    expect(world.history().at(-1)).toMatch(/nothing left to compact/);
  });

  it("continues if nothing is left to compact but everything still fits", async () => {
    world.process.conversation.setPolicy({ overflow: "auto-compact" });
    world.say(long("x", 9_500));
    await world.idle();
    expect(reasons()).toEqual(["ok turn.complete"]);
  });

  it("ends the run and changes nothing if no summary can be made or it would not be shorter", async () => {
    await fill(1, 10);
    world.process.conversation.setPolicy({ overflow: "auto-compact", keepLast: 1 });
    world.summary = { error: "no key" };
    world.say(long("x", 9_500));
    await world.idle();
    expect(world.history()).toHaveLength(4);
    world.summary = [text(long("s", 20_000))];
    world.say("again");
    await world.idle();
    expect(reasons()).toEqual(["ok turn.complete", "error context.auto_compact.failed", "error context.auto_compact.failed"]);
    expect(world.history()).toHaveLength(6);
    expect(world.archives.size).toBe(0);
  });

  it("happens a limited number of times per run", async () => {
    world.process.conversation.setPolicy({ overflow: "auto-compact", keepLast: 1 });
    world.sys = async () => ({ kind: "done", isError: false, output: long("r", 7_000) });
    world.answer = () => [read("/more")];
    world.summary = [text("in short")];
    world.say(long("never enough ", 300));
    await world.idle();
    expect(reasons()).toEqual(["error context.auto_compact.failed"]);
    expect(world.history().at(-1)).toMatch(/after 3 compactions in this run\. Compact it manually/);
    expect(world.process.conversation.listSegments({})).toHaveLength(3);
  });
});

describe("a budget", () => {
  it("asks before the next model call, and an approval allows the same amount once more", async () => {
    world.budget = { run: { modelCalls: 2 }, process: {} };
    world.on("work", [read("/1")], [read("/2")], [read("/3")], [read("/4")], [text("done")]);
    world.say("work", { runId: "r" });
    await expect.poll(() => world.questions.length).toBe(1);
    expect(world.questions[0]).toEqual({ runId: "r", over: [{ scope: "run", limit: "modelCalls", allowed: 2, used: 2 }] });
    await expect.poll(() => world.process.activeRun?.budgetRequest?.requestId).toBe("budget of r");
    expect(events().at(-2)?.payload).toMatchObject({ changes: ["budget"], why: "this run has used 2 model calls of 2 model calls" });
    world.process.handleBudgetDecision("another", true);
    world.process.handleBudgetDecision("budget of r", true);
    await expect.poll(() => world.questions.length).toBe(2);
    await expect.poll(() => world.process.activeRun?.budgetRequest?.requestId).toBe("budget of r");
    world.process.handleBudgetDecision("budget of r", true);
    await world.idle();
    expect(reasons()).toEqual(["ok turn.complete"]);
    expect(world.process.readSpent("r")).toMatchObject({ modelCalls: 5, toolCalls: 4, usage: { totalTokens: 75 } });
    expect(runEnds()[0]?.payload.usage).toMatchObject({ input: 50, output: 25, totalTokens: 75 });
  });

  it("of the process is not extended by an approval for a run", async () => {
    world.budget = { run: { modelCalls: 1 }, process: { modelCalls: 2 } };
    world.on("work", [read("/1")], [read("/2")], [text("done")]);
    world.say("work", { runId: "r" });
    for (const scopes of [["run"], ["run", "process"]]) {
      await expect.poll(() => world.process.activeRun?.budgetRequest).toEqual({ requestId: "budget of r", scopes });
      world.process.handleBudgetDecision("budget of r", true);
    }
    await world.idle();
    expect(reasons()).toEqual(["ok turn.complete"]);
  });

  it("ends the run with an error message if more is denied", async () => {
    world.budget = { run: {}, process: { tokens: 20 } };
    world.say("one");
    await world.idle();
    world.on("two", [read("/1")]);
    world.say("two", { runId: "two" });
    await expect.poll(() => world.process.activeRun?.budgetRequest?.requestId).toBe("budget of two");
    world.process.handleBudgetDecision("budget of two", false);
    await world.idle();
    expect(reasons()).toEqual(["ok turn.complete", "error budget.denied"]);
    expect(world.history().at(-1)).toMatch(/^system: The run was ended: The budget is used up/);
  });

  it.each([
    ["cost", { cost: 0 }],
    ["wall time", { wallMs: 0 }],
    ["tool calls", { toolCalls: 0 }],
  ])("limits %s", async (_, run) => {
    world.budget = { run, process: {} };
    world.say("x", { runId: "r" });
    await expect.poll(() => world.questions.length).toBe(1);
    world.process.abort();
    await world.idle();
    expect(world.requests).toEqual([]);
  });

  it("does not count the time a person takes to answer", async () => {
    world.budget = { run: { wallMs: 5_000 }, process: {} };
    let isAllowed = false;
    world.sys = async () =>
      isAllowed ? { kind: "done", isError: false, output: "deleted" } : { kind: "asked", request: question("q", "r") };
    world.on("work", [read("/x")], [text("done")]);
    world.say("work", { runId: "r" });
    await expect.poll(() => world.process.activeRun?.pausedAt).toBe(world.now);
    world.now += 60 * 60 * 1000;
    world.process.onWake();
    isAllowed = true;
    world.process.handleDecision("q");
    await world.idle();
    expect(world.questions).toEqual([]);
    expect(world.process.readSpent("r").wallMs).toBe(0);
    expect(reasons()).toEqual(["ok turn.complete"]);
  });

  it("continues if the answer arrives before the question is recorded", async () => {
    world.budget = { run: { modelCalls: 1 }, process: {} };
    world.on("work", [read("/1")]);
    const ask = world.questions.push.bind(world.questions);
    world.questions.push = (...questions) => {
      world.process.handleBudgetDecision("budget of r", true);
      return ask(...questions);
    };
    world.say("work", { runId: "r" });
    await world.idle();
    expect(world.questions).toHaveLength(1);
    expect(reasons()).toEqual(["ok turn.complete"]);
  });

  it("survives a crash while the question is open", async () => {
    world.budget = { run: { modelCalls: 1 }, process: {} };
    world.on("work", [read("/1")]);
    world.say("work", { runId: "r" });
    await expect.poll(() => world.process.activeRun?.budgetRequest?.requestId).toBe("budget of r");
    world.begin();
    world.process.onWake();
    world.process.handleBudgetDecision("budget of r", true);
    await world.idle();
    expect(world.questions).toHaveLength(1);
    expect(reasons()).toEqual(["ok turn.complete"]);
  });
});

it("cuts tool outputs, per call and per turn, and stores the whole output", async () => {
  world.contextWindow = null;
  world.sys = async ({ args }) => ({ kind: "done", isError: false, output: `${String(args.path)}\n`.repeat(20_000) });
  world.on("read all", [read("/1"), read("/2"), read("/3"), read("/4"), read("/5")], [text("much")]);
  world.say("read all");
  await world.idle();
  const results = world.process.history.page("default", 0, 100).messages.flatMap((one) => (one.role === "toolResult" ? one.output : []));
  expect(results).toHaveLength(5);
  expect(results.join("").length).toBeLessThan(122_000);
  for (const result of results) expect(result).toMatch(/characters left out; all of it is in \/var\/outputs\/call-\d+ on gsv/);
  expect([...world.outputs.values()].map((output) => output.length)).toEqual(Array(5).fill(60_000));
});

it("shows pictures to the model, and continues without missing ones", async () => {
  const image = (key: string) => ({ type: "image", mimeType: "image/png", key });
  world.media.set("a", Uint8Array.of(1, 2, 3)).set("b", Uint8Array.of(4));
  world.sys = async () => ({ kind: "done", isError: false, output: "a picture", images: [image("a"), image("gone")] });
  world.on("what is this?", [read("/a.png")], [text("a cat")]);
  world.process.send({ message: { role: "user", text: "what is this?", media: [image("b"), image("gone")] }, reason: "proc.send" });
  await world.idle();
  const [question, , result] = world.requests[1]!.messages;
  expect(question?.content).toEqual([
    { type: "text", text: "what is this?" },
    { type: "image", mimeType: "image/png", data: Uint8Array.of(4) },
    { type: "text", text: "[Attached image: image/png]" },
  ]);
  expect(result?.content).toEqual([
    { type: "text", text: "a picture" },
    { type: "image", mimeType: "image/png", data: Uint8Array.of(1, 2, 3) },
  ]);
});

it("distinguishes calls if a server reuses call ids in every answer", async () => {
  const repeated = { type: "toolCall", id: "0", name: "Read", arguments: { target: "gsv", path: "/a" } } as const;
  world.on("look", [repeated, repeated], [repeated], [text("done")]);
  world.say("look");
  await world.idle();
  expect(new Set(world.effects.map(({ callId }) => callId)).size).toBe(3);
  expect(world.history().filter((line) => line.startsWith("result: "))).toHaveLength(3);
});

describe("followers", () => {
  it("that connect in the middle of an answer get what has arrived, and then the rest", async () => {
    expect(world.process.liveAnswer()).toBeNull();
    world.modelHolds = deferred();
    world.pieces = [
      { type: "thinking_start", index: 0 },
      { type: "thinking_delta", index: 0, delta: "hm" },
      { type: "text_start", index: 1 },
      { type: "text_delta", index: 1, delta: "hel" },
      { type: "retrying", attempt: 1, waitMs: 5, why: "overloaded" },
      { type: "text_start", index: 0 },
      { type: "text_delta", index: 0, delta: "hel" },
      { type: "text_delta", index: 0, delta: "lo" },
      { type: "toolcall_start", index: 1, id: "k", name: "Read" },
      { type: "toolcall_delta", index: 1, delta: '{"pa' },
    ];
    world.on("hi", [text("hello")]);
    world.say("hi", { runId: "r" });
    await expect.poll(() => world.streamed.length).toBe(10);
    expect(world.process.liveAnswer()).toEqual({
      runId: "r",
      conversationId: "default",
      modelCall: 1,
      seq: 10,
      blocks: [
        { type: "text", text: "hello" },
        { type: "toolCall", id: "k", name: "Read", arguments: null, raw: '{"pa' },
      ],
    });
    expect(world.streamed[3]).toMatchObject({ seq: 4, runId: "r", event: { type: "text_delta", contentIndex: 1, delta: "hel" } });
    expect(events().find(({ signal }) => signal === "proc.run.retrying")?.payload).toMatchObject({
      runId: "r",
      attempt: 1,
      waitMs: 5,
      why: "overloaded",
    });
    world.modelHolds.resolve();
    await world.idle();
    expect(world.process.liveAnswer()).toBeNull();
    expect(world.streamed.at(-1)).toMatchObject({ seq: 11, event: { type: "done" } });
  });

  it("receive every end under both of its names", async () => {
    world.on("one", [text("yes")]);
    world.on("two", { error: "no key" });
    world.say("one", { runId: "one" });
    await world.idle();
    world.say("two", { runId: "two" });
    await world.idle();
    world.modelHolds = deferred();
    world.say("three", { runId: "three" });
    world.process.abort();
    await world.idle();
    const complete = events().filter((event) => event.signal === "chat.complete");
    expect(complete.map(({ payload: { runId, text, error, aborted, reason } }) => ({ runId, text, error, aborted, reason }))).toEqual([
      { runId: "one", text: "yes" },
      { runId: "two", text: null, error: "no key" },
      { runId: "three", text: null, aborted: true, reason: "user" },
    ]);
    expect(complete[0]?.payload.usage).toMatchObject(USAGE);
    expect(runEnds().map(({ payload }) => payload.runId)).toEqual(["one", "two", "three"]);
  });
});
