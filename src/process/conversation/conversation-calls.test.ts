// What people do with conversations, over real rows and real archives.

import { beforeEach, describe, expect, it } from "vitest";
import { deferred } from "../../lib/deferred.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { read, text, World } from "../../../test/support/process-world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});

const runEnds = () => world.process.events.listCompleteAfter(0, 10_000)!.filter((event) => event.signal === "proc.run.finished");

/** Sends this many messages and waits for an answer to each. */
async function talk(count: number, conversationId = "default"): Promise<void> {
  for (let at = 1; at <= count; at++) {
    world.on(`q${at}`, [text(`a${at}`)]);
    world.say(`q${at}`, { conversationId });
    await world.idle();
  }
}

describe("a conversation", () => {
  it("counts against the limit even if it is closed", () => {
    for (let at = 1; at < LIMITS.conversationsPerProcess; at++) world.process.conversation.open({ conversationId: `c${at}` });
    expect(world.process.conversation.open({ conversationId: "default" }).conversation.id).toBe("default");
    expect(() => world.process.conversation.open({ conversationId: "more" })).toThrow(/which is the maximum.*proc\.reset/);
    expect(() => world.say("hello", { conversationId: "another" })).toThrow(/which is the maximum/);
    expect(world.process.conversation.open({ conversationId: "c1" })).toMatchObject({ created: false });
  });

  it("can be opened, listed, closed and reopened", async () => {
    expect(world.process.conversation.open({ conversationId: " work ", title: " Work " })).toMatchObject({
      conversation: { id: "work", title: "Work", generation: 1, status: "open", messageCount: 0 },
      created: true,
    });
    expect(world.process.conversation.open({ conversationId: "work" })).toMatchObject({ conversation: { title: "Work" }, created: false });
    expect(world.process.conversation.open({}).conversation.id).toBe("run-1");
    expect(world.process.conversation.close({ conversationId: "work" })).toEqual({ conversationId: "work", closed: true });
    expect(world.process.conversation.close({ conversationId: "nothing" })).toEqual({ conversationId: "nothing", closed: false });
    expect(() => world.say("hi", { conversationId: "work" })).toThrow("Conversation is closed: work");
    expect(world.process.conversation.list({}).map(({ id }) => id)).toEqual(["default", "run-1"]);
    expect(world.process.conversation.list({ includeClosed: true }).map(({ id }) => id)).toEqual(["default", "run-1", "work"]);
    expect(world.process.conversation.get({ conversationId: "nothing" })).toBeNull();
    expect(() => world.process.conversation.open({ conversationId: "x".repeat(257) })).toThrow("at most 200");
  });

  it("was updated when its newest message came, and is listed by that", () => {
    for (const conversationId of ["first", "second"]) world.process.conversation.open({ conversationId });
    const updatedAt = (id: string) => world.process.conversation.get({ conversationId: id })!.updatedAt;
    const before = updatedAt("second");
    world.process.history.append("first", null, { role: "user", text: "hello" }, before + 60_000);
    expect([updatedAt("first"), updatedAt("second")]).toEqual([before + 60_000, before]);
    expect(world.process.conversation.list({}).map(({ id }) => id)[0]).toBe("first");
    // A copy of an older message is no news.
    world.process.history.append("first", null, { role: "user", text: "copied" }, before);
    expect(updatedAt("first")).toBe(before + 60_000);
  });

  it("has a policy that can be changed field by field", () => {
    expect(world.process.conversation.policy({})).toEqual({
      conversationId: "default",
      overflow: "manual",
      compactAtPressure: 0.9,
      keepLast: 80,
      updatedAt: 0,
    });
    world.process.conversation.setPolicy({ overflow: "auto-compact" });
    expect(world.process.conversation.setPolicy({ keepLast: 3 })).toMatchObject({
      overflow: "auto-compact",
      keepLast: 3,
      updatedAt: 1_000,
    });
    expect(() => world.process.conversation.setPolicy({ keepLast: -1 })).toThrow("keepLast");
    expect(() => world.process.conversation.setPolicy({ compactAtPressure: 0 })).toThrow("compactAtPressure");
  });
});

describe("a page of history", () => {
  const append = (count: number, conversationId: string) => {
    for (let at = 0; at < count; at++) world.process.history.append(conversationId, null, { role: "user", text: `${at}` }, at);
  };
  const page = (args: Parameters<typeof world.process.conversation.history>[0]) => {
    const { messages, offset, truncated } = world.process.conversation.history(args, null);
    return [offset, messages.length, truncated === true];
  };

  it("has at most a thousand messages, from either end", () => {
    append(1_100, "default");
    expect(page({ limit: 5_000 })).toEqual([0, 1_000, true]);
    expect(page({ limit: 5_000, tail: true })).toEqual([100, 1_000, true]);
    expect(page({ limit: 5_000, offset: -50 })).toEqual([1_050, 50, false]);
    expect(page({ offset: 5_000 })).toEqual([1_100, 0, false]);
    expect(page({ offset: -5_000 })).toEqual([0, 200, true]);
  });

  it("can start at a message id, whatever ids lie between", () => {
    for (const conversationId of ["default", "side"]) world.process.conversation.open({ conversationId });
    for (let at = 0; at < 500; at++) {
      append(1, "default");
      append(3, "side");
    }
    // Every fourth id belongs to this conversation.
    for (const [id, place] of [
      [0, 0],
      [1, 0],
      [2, 1],
      [5, 1],
      [6, 2],
      [1_997, 499],
      [1_998, 500],
      [9_999, 500],
    ] as const)
      expect([id, world.process.history.findPlace("default", id)]).toEqual([id, place]);
    expect(page({ afterMessageId: 1_000, limit: 2 })).toEqual([250, 2, true]);
    expect(page({ beforeMessageId: 1_001, limit: 2 })).toEqual([248, 2, true]);
  });
});

describe("manual compaction", () => {
  it("replaces the oldest messages by a summary and archives them unchanged", async () => {
    await talk(4);
    const result = await world.process.conversation.compact({ keepLast: 2, summary: "we counted" });
    expect(result).toMatchObject({
      archivedMessages: 6,
      summaryMessageId: 1,
      segment: { fromMessageId: 1, toMessageId: 6, kind: "compaction" },
    });
    expect(result.archivedTo).toMatch(/^\/var\/sessions\/u\/p\/conversations\/default\/.*\.jsonl\.gz$/);
    expect(world.history()).toEqual([
      expect.stringMatching(/^system: .*6 earlier messages .*\n\nwe counted$/s),
      "user: q4",
      "assistant: a4",
    ]);
    expect(world.history()[0]).toContain(result.archivedTo);
    const page = await world.process.conversation.readSegment({ segmentId: result.segment.id, offset: 1, limit: 2 });
    expect(page).toMatchObject({ messageCount: 6, truncated: true });
    expect(page.messages.map(({ id, content }) => [id, content])).toEqual([
      [2, "a1"],
      [3, "q2"],
    ]);
    expect(world.process.conversation.listSegments({})).toEqual([result.segment]);
    const { messages, messageCount } = world.process.conversation.history({}, null);
    expect([messageCount, messages.map(({ id }) => id)]).toEqual([3, [1, 7, 8]]);
  });

  it("asks the model for a summary if none is given, and counts its usage", async () => {
    await talk(2);
    world.summary = [text("in short")];
    const { summaryMessageId } = await world.process.conversation.compact({ throughMessageId: 2, generateSummary: true });
    expect(world.requests.at(-1)).toMatchObject({ tools: [], choice: { maxOutputTokens: 768, reasoning: "off" } });
    expect(world.history()[0]).toMatch(/in short$/);
    expect(world.process.readSpent().modelCalls).toBe(3);
    expect(summaryMessageId).toBe(1);
    world.summary = { error: "no key" };
    await expect(world.process.conversation.compact({ keepLast: 0, generateSummary: true })).rejects.toThrow(
      "Failed to generate compaction summary: no key",
    );
    expect(world.history()).toHaveLength(3);
  });

  it("never separates a call from its results", async () => {
    world.on("look", [read("/a"), read("/b")], [text("done")]);
    world.say("look");
    await world.idle();
    // user, call, two results, answer: keeping the last two would begin with a result.
    await world.process.conversation.compact({ keepLast: 2, summary: "s" });
    expect(world.history()).toHaveLength(5);
    await world.process.conversation.compact({ throughMessageId: 2, summary: "s" });
    expect(world.history()).toEqual([expect.stringMatching(/^system/), "assistant: done"]);
    const [first] = world.process.conversation.listSegments({}).slice(-1);
    const { messages } = await world.process.conversation.readSegment({ segmentId: first!.id });
    expect(messages.slice(-2).map(({ content }) => content)).toEqual([
      { toolName: "Read", isError: false, durationMs: expect.any(Number), toolCallId: expect.any(String), output: "content of /a" },
      { toolName: "Read", isError: false, durationMs: expect.any(Number), toolCallId: expect.any(String), output: "content of /b" },
    ]);
  });

  it("is refused if its arguments make no sense or the conversation is active", async () => {
    await talk(1);
    const { compact } = { compact: world.process.conversation.compact.bind(world.process.conversation) };
    await expect(compact({ summary: "s" })).rejects.toThrow("exactly one of keepLast");
    await expect(compact({ summary: "s", keepLast: 1, throughMessageId: 1 })).rejects.toThrow("exactly one of keepLast");
    await expect(compact({ keepLast: 1 })).rejects.toThrow("exactly one of summary");
    await expect(compact({ keepLast: 1, summary: "s", generateSummary: true })).rejects.toThrow("exactly one of summary");
    await expect(compact({ keepLast: 2, summary: "s" })).rejects.toThrow("No conversation messages selected");
    await expect(compact({ throughMessageId: 99, summary: "s" })).rejects.toThrow("Message not found in conversation: 99");
    await compact({ keepLast: 1, summary: "s" });
    await expect(compact({ keepLast: 1, summary: "s" })).rejects.toThrow("No conversation messages selected");
    world.modelHolds = deferred();
    world.say("long");
    await expect(compact({ keepLast: 0, summary: "s" })).rejects.toThrow("Conversation is active: default");
    world.modelHolds.resolve();
    await world.idle();
  });
});

describe("forking", () => {
  it("copies present messages with their times and new ids", async () => {
    await talk(3);
    const result = await world.process.conversation.fork({ throughMessageId: 2, targetConversationId: "b" });
    expect(result).toMatchObject({
      sourceConversationId: "default",
      throughMessageId: 2,
      restoredMessages: 2,
      includedLiveSuffix: false,
      targetConversation: { id: "b", title: "Fork of default at message 2", messageCount: 2 },
    });
    expect(world.history("b")).toEqual(["user: q1", "assistant: a1"]);
    await expect(world.process.conversation.fork({ throughMessageId: 2, targetConversationId: "b" })).rejects.toThrow(
      "already has messages: b",
    );
    await expect(world.process.conversation.fork({})).rejects.toThrow("exactly one");
    await expect(world.process.conversation.fork({ segmentId: "x" })).rejects.toThrow("Conversation segment not found: x");
    world.on("and?", [text("another way")]);
    world.say("and?", { conversationId: "b" });
    await world.idle();
    expect(world.history("b").at(-1)).toBe("assistant: another way");
    expect(world.history()).toHaveLength(6);
  });

  it("restores archived messages and those that followed them, even if these were archived later", async () => {
    await talk(3);
    const { segment } = await world.process.conversation.compact({ keepLast: 4, summary: "one" });
    await talk(1);
    await world.process.conversation.compact({ keepLast: 3, summary: "two" });
    const whole = await world.process.conversation.fork({ segmentId: segment.id });
    expect(whole).toMatchObject({ restoredMessages: 6, includedLiveSuffix: true, segment: { id: segment.id } });
    expect(whole.targetConversation.title).toBe(`Fork of default at ${segment.id.slice(0, 8)}`);
    const all = ["user: q1", "assistant: a1", "user: q2", "assistant: a2", "user: q3", "assistant: a3"];
    expect(world.history(whole.targetConversation.id)).toEqual(all);
    const part = await world.process.conversation.fork({ segmentId: segment.id, includeLiveSuffix: false });
    expect(world.history(part.targetConversation.id)).toEqual(all.slice(0, 2));
  });
});

it("a fork of what was rewound shows what a script did", async () => {
  const scriptCalls = { count: 1, calls: [{ callId: "codemode-1", name: "Read", args: { path: "/a" }, ok: true }] };
  const { history, conversation } = world.process;
  const { id } = history.append("default", null, { role: "user", text: "Look." }, 1);
  history.append("default", null, { role: "toolResult", callId: "k", tool: "CodeMode", isError: false, output: "{}", scriptCalls }, 1);
  const { segment } = await conversation.rewind({ beforeMessageId: id });
  const { targetConversation } = await conversation.fork({ segmentId: segment.id });
  const { messages } = conversation.history({ conversationId: targetConversation.id }, null);
  expect(messages.at(-1)!.content).toMatchObject({ toolName: "CodeMode", scriptCalls });
});

describe("reset", () => {
  it("archives and empties the conversation, and begins the next generation", async () => {
    await talk(2);
    await talk(1, "other");
    const result = await world.process.conversation.reset({});
    expect(result).toMatchObject({ conversationId: "default", generation: 2, archivedMessages: 4 });
    expect([...world.archives.keys()]).toEqual([result.archivedTo]);
    expect([world.history().length, world.history("other").length]).toEqual([0, 2]);
    expect(world.process.conversation.history({}, null)).toMatchObject({ messageCount: 0, context: null });
    expect(await world.process.conversation.reset({})).toEqual({ conversationId: "default", generation: 3, archivedMessages: 0 });
    await talk(1);
    expect(await world.process.conversation.reset({ archive: false })).toMatchObject({ archivedMessages: 0 });
    expect(world.archives.size).toBe(1);
    await expect(world.process.conversation.reset({ conversationId: "nothing" })).rejects.toThrow("Unknown conversation");
  });

  it("ends the active and the queued runs of the conversation, and lets others begin", async () => {
    world.modelHolds = deferred();
    world.on("one", [text("never")]);
    world.on("three", [text("elsewhere")]);
    world.say("one", { runId: "one" });
    await expect.poll(() => world.requests.length).toBe(1);
    world.say("two", { runId: "two" });
    world.say("three", { runId: "three", conversationId: "other" });
    const resetting = world.process.conversation.reset({});
    expect(world.say("four", { runId: "four" })).toMatchObject({ queued: true });
    world.modelHolds = null;
    expect(await resetting).toMatchObject({ archivedMessages: 1 });
    await world.idle();
    expect(runEnds().map(({ payload }) => [payload.runId, payload.status, payload.reason])).toEqual([
      ["two", "aborted", "conversation.reset"],
      ["one", "aborted", "conversation.reset"],
      ["three", "ok", "turn.complete"],
      ["four", "ok", "turn.complete"],
    ]);
    expect(world.history("other")).toEqual(["user: three", "assistant: elsewhere"]);
    expect(world.history()).toHaveLength(2);
  });

  it("of the whole process archives every conversation that has messages, under one folder", async () => {
    await talk(1);
    await talk(2, "a/b");
    world.process.conversation.open({ conversationId: "empty" });
    world.process.conversation.close({ conversationId: "a/b" });
    const result = await world.process.conversation.resetAll({ reason: "process.reset", archive: true, hasWorkspace: false });
    expect(result).toMatchObject({ archivedMessages: 6, archivedTo: expect.stringMatching(/^\/var\/sessions\/u\/p\/[^/]+\/$/) });
    expect(result.archives.map(({ path }) => path.slice(result.archivedTo!.length)).toSorted()).toEqual([
      "a%2Fb.gen-1.jsonl.gz",
      "default.gen-1.jsonl.gz",
    ]);
    expect(world.process.conversation.list({}).map(({ generation, messageCount }) => [generation, messageCount])).toEqual([
      [2, 0],
      [2, 0],
      [2, 0],
    ]);
    await talk(1);
    expect(await world.process.conversation.resetAll({ reason: "process.kill", archive: false, hasWorkspace: false })).toEqual({
      archivedMessages: 0,
      archives: [],
    });
    expect(world.checkpoints).toEqual([]);
    expect(world.history()).toEqual([]);
  });
});
