// Conversations of a process: open, close, page, compact, fork and reset, with archives that keep every word.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { type ScriptedModel, says, told, toldText, wants } from "../../support/models/scripted.ts";
import { stages, type Watched } from "../stage.ts";
import { expectRefusal } from "../verifies.ts";

/** The prompt of a request for a summary: one line of JSON per message. */
const TRANSCRIPT = /^\{"id":/;

stages("proc.conversation.open:makes", async ({ spawn, ann }) => {
  const { pid } = await spawn();
  const made = await ann.call("proc.conversation.open", { pid, title: "  Holiday  " });
  expect(made).toMatchObject({
    ok: true,
    pid,
    created: true,
    conversation: { generation: 1, status: "open", title: "Holiday", messageCount: 0 },
  });
  const { id } = made.conversation;
  expect(id).toMatch(/^[\da-f-]{36}$/);
  const named = await ann.call("proc.conversation.open", { pid, conversationId: "plans" });
  expect(named).toMatchObject({ created: true, conversation: { id: "plans", title: null } });
  await ann.call("proc.conversation.close", { pid, conversationId: id });
  const again = await ann.call("proc.conversation.open", { pid, conversationId: id });
  expect(again).toMatchObject({ created: false, conversation: { id, status: "open", title: "Holiday", generation: 1 } });
  expect((await ann.call("proc.conversation.open", { pid, conversationId: id, title: "Sea" })).conversation.title).toBe("Sea");
});

stages("proc.conversation.list:open", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  for (const conversationId of ["a", "b", "c"]) await ann.call("proc.conversation.open", { pid, conversationId });
  await ann.call("proc.conversation.close", { pid, conversationId: "b" });
  model.on("Here?", says("Yes."));
  await agent.ask("Here?", { conversationId: "a" });
  const shown = async (args: { includeClosed?: boolean }) =>
    (await ann.call("proc.conversation.list", { pid, ...args })).conversations
      .map(({ id, status, messageCount }) => `${id} ${status} ${messageCount}`)
      .toSorted();
  expect(await shown({})).toEqual(["a open 2", "c open 0", "default open 0"]);
  expect(await shown({ includeClosed: true })).toEqual(["a open 2", "b closed 0", "c open 0", "default open 0"]);
});

stages("proc.conversation.get:one", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  expect(await ann.call("proc.conversation.get", { pid, conversationId: "none" })).toEqual({ ok: true, pid, conversation: null });
  model.on("Here?", says("Yes."));
  await agent.ask("Here?");
  expect((await ann.call("proc.conversation.get", { pid })).conversation).toMatchObject({ id: "default", messageCount: 2, status: "open" });
});

stages("proc.conversation.get:default", async ({ spawn, ann }) => {
  const { pid } = await spawn();
  const { conversation } = await ann.call("proc.conversation.get", { pid });
  expect(conversation).toEqual({
    id: "default",
    generation: 1,
    status: "open",
    title: null,
    messageCount: 0,
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
    isPinned: false,
    startedBy: null,
  });
  const none = await spawn();
  expect((await ann.call("proc.conversation.list", { pid: none.pid })).conversations).toMatchObject([{ id: "default", messageCount: 0 }]);
  expect(await none.history()).toMatchObject({ conversationId: "default", messages: [], messageCount: 0, context: null });
  expect(await ann.call("proc.conversation.segments", { pid })).toMatchObject({ conversationId: "default", segments: [] });
  expect(await ann.call("proc.conversation.policy.get", { pid })).toMatchObject({ policy: { overflow: "manual", updatedAt: 0 } });
  await expectRefusal(ann.call("proc.conversation.compact", { pid, keepLast: 0, summary: "x" }), 409, /No conversation messages selected/);
  expect(await ann.call("proc.conversation.open", { pid, conversationId: "default", title: "Home" })).toMatchObject({
    created: false,
    conversation: { title: "Home", createdAt: conversation!.createdAt },
  });
  expect(await ann.call("proc.conversation.reset", { pid })).toEqual({
    ok: true,
    pid,
    conversationId: "default",
    generation: 2,
    archivedMessages: 0,
  });
  expect(await ann.call("proc.conversation.close", { pid, conversationId: "default" })).toMatchObject({ closed: true });
  expect(await ann.call("proc.reset", { pid: none.pid })).toMatchObject({ archivedMessages: 0, archives: [] });
});

stages("proc.conversation.close:silent", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("Here?", says("Yes.")).on("And now?", says("Again."));
  await agent.ask("Here?", { conversationId: "talk" });
  const close = () => ann.call("proc.conversation.close", { pid, conversationId: "talk" });
  expect(await close()).toEqual({ ok: true, pid, conversationId: "talk", closed: true });
  await expectRefusal(ann.call("proc.send", { pid, conversationId: "talk", message: "x" }), 409, /^Conversation is closed: talk/);
  expect((await agent.history({ conversationId: "talk" })).messageCount).toBe(2);
  await ann.call("proc.conversation.open", { pid, conversationId: "talk" });
  expect(await agent.ask("And now?", { conversationId: "talk" })).toMatchObject({ text: "Again." });
  expect(await ann.call("proc.conversation.close", { pid, conversationId: "never" })).toMatchObject({ closed: false });
});

stages("proc.conversation.open:apart", async ({ spawn, model }) => {
  const agent = await spawn();
  model.on("My colour is blue.", says("Blue.")).on("Which colour?", says("I do not know."));
  await agent.ask("My colour is blue.", { conversationId: "one" });
  await agent.ask("Which colour?", { conversationId: "two" });
  expect(toldText(model.asked[1]!)).not.toContain("blue");
  expect((await agent.history({ conversationId: "one" })).messageCount).toBe(2);
});

stages("proc.history:pages", async ({ spawn, model }) => {
  const agent = await spawn();
  await manyMessages(agent, model, 5);
  const { messages, messageCount, truncated } = await agent.history({ limit: 1_000_000 });
  expect(messages).toHaveLength(messageCount);
  expect(truncated).toBeUndefined();
  const ids = messages.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  const page = await agent.history({ limit: 4, offset: 2 });
  expect(page).toMatchObject({ messages: messages.slice(2, 6), messageCount, truncated: true });
  expect((await agent.history({ limit: 4, offset: -4 })).messages).toEqual(messages.slice(-4));
  expect((await agent.history({ limit: 4, offset: messageCount })).messages).toEqual([]);
  const { context } = page;
  expect(context).toMatchObject({ conversationId: "default", provider: "openai-compatible", model: model.name, messageCount, level: "ok" });
  expect(context!.inputTokens).toBeGreaterThan(0);
});

stages("proc.history:cursors", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  // Another conversation has ids between those of this one.
  model.on("Aside.", says("Beside."));
  await agent.ask("Aside.", { conversationId: "side" });
  await manyMessages(agent, model, 9);
  await agent.ask("Aside.", { conversationId: "side" });
  const { messages: all, messageCount } = await agent.history();
  expect(messageCount).toBe(12);
  const id = (at: number) => all.at(at)!.id;
  expect(await agent.history({ tail: true, limit: 4 })).toMatchObject({
    messages: all.slice(-4),
    messageCount,
    offset: 8,
    truncated: true,
  });
  const whole = await agent.history({ tail: true });
  expect(whole).toMatchObject({ messages: all, offset: 0 });
  expect(whole.truncated).toBeUndefined();
  expect(await agent.history({ beforeMessageId: id(8), limit: 3 })).toMatchObject({
    messages: all.slice(5, 8),
    offset: 5,
    truncated: true,
  });
  const oldest = await agent.history({ beforeMessageId: id(2), limit: 3, tail: true });
  expect(oldest).toMatchObject({ messages: all.slice(0, 2), offset: 0 });
  expect(oldest.truncated).toBeUndefined();
  expect(await agent.history({ afterMessageId: id(2), limit: 3 })).toMatchObject({ messages: all.slice(3, 6), offset: 3, truncated: true });
  expect(await agent.history({ afterMessageId: id(2), limit: 3, tail: true })).toMatchObject({ messages: all.slice(-3), truncated: true });
  const newest = await agent.history({ afterMessageId: id(9) });
  expect(newest).toMatchObject({ messages: all.slice(10), messageCount });
  expect(newest.truncated).toBeUndefined();
  expect((await agent.history({ afterMessageId: id(-1) })).messages).toEqual([]);
  expect((await agent.history({ beforeMessageId: id(0) })).messages).toEqual([]);
  expect((await agent.history({ afterMessageId: 0 })).messages).toEqual(all);
  for (const wrong of [
    { beforeMessageId: id(8), afterMessageId: id(2) },
    { tail: true, offset: 0 },
    { offset: 1, beforeMessageId: id(2) },
    { offset: -1, afterMessageId: id(2) },
    { beforeMessageId: -1 },
    { afterMessageId: 1.5 },
  ])
    await expectRefusal(agent.history(wrong), 400);
  // A cursor stays valid, whatever happened to its message.
  await ann.call("proc.conversation.compact", { pid, throughMessageId: id(0), summary: "They wanted to fly." });
  expect((await agent.history({ afterMessageId: id(0) })).messages).toEqual(all.slice(1));
  await ann.call("proc.conversation.compact", { pid, keepLast: 1, summary: "It cannot fly." });
  expect((await agent.history({ afterMessageId: id(5) })).messages).toEqual(all.slice(-1));
  expect((await agent.history({ beforeMessageId: id(5) })).messages).toMatchObject([{ id: id(0), role: "system" }]);
  await ann.call("proc.conversation.reset", { pid });
  await agent.ask("Aside.");
  expect((await agent.history({ afterMessageId: id(-1) })).messages).toHaveLength(2);
  expect((await agent.history({ beforeMessageId: id(-1) })).messages).toEqual([]);
});

stages("proc.history:newest", async ({ spawn, model }) => {
  const agent = await spawn();
  await manyMessages(agent, model, 230);
  expect((await agent.history({ limit: 1 })).messageCount).toBeGreaterThan(230);
  model.on("Do you see the newest words?", says("I do."));
  await agent.ask("Do you see the newest words?");
  const last = model.asked.at(-1)!;
  expect(JSON.stringify(told(last).at(-1))).toContain("Do you see the newest words?");
  expect(told(last).length).toBeGreaterThan(230);
  expect((await agent.history()).truncated).toBe(true);
});

stages("proc.conversation.reset:archives", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("1", says("One.")).on("2", says("Two."));
  await agent.ask("1", { conversationId: "first" });
  await agent.ask("2", { conversationId: "second" });
  const reset = await ann.call("proc.conversation.reset", { pid, conversationId: "first" });
  expect(reset).toMatchObject({ ok: true, pid, conversationId: "first", generation: 2, archivedMessages: 2 });
  expect(reset.archivedTo).toMatch(new RegExp(`^/var/sessions/ann/${pid}/conversations/first/[\\da-f-]{36}\\.jsonl\\.gz$`));
  expect(await archived(ann, reset.archivedTo!)).toMatchObject([
    { conversation_id: "first", generation: 1, role: "user", content: "1" },
    { role: "assistant", content: "One." },
  ]);
  expect((await agent.history({ conversationId: "first" })).messages).toEqual([]);
  expect((await agent.history({ conversationId: "second" })).messageCount).toBe(2);
  const gone = await ann.call("proc.conversation.reset", { pid, conversationId: "second", archive: false });
  expect(gone).toEqual({ ok: true, pid, conversationId: "second", generation: 2, archivedMessages: 0 });
  await expectRefusal(ann.call("proc.conversation.reset", { pid, conversationId: "never" }), 404);
});

stages("proc.conversation.reset:ends", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("Hang.", { hang: true }).on("Go on.", says("Going on."));
  const active = await agent.say("Hang.", { conversationId: "busy" });
  await expect.poll(() => model.asked.length).toBe(1);
  const waiting = await agent.say("Wait.", { conversationId: "busy" });
  const other = await agent.say("Go on.", { conversationId: "calm" });
  await ann.call("proc.conversation.reset", { pid, conversationId: "busy" });
  for (const runId of [active, waiting])
    expect(await agent.finished(runId)).toMatchObject({ status: "aborted", reason: "conversation.reset", aborted: true });
  expect(await agent.finished(other)).toMatchObject({ status: "ok", text: "Going on." });
  expect(agent.of("proc.changed").filter(({ event }) => event === "conversation.reset")).toHaveLength(1);
});

stages("proc.conversation.policy.get:default", async ({ spawn, ann }) => {
  const { pid } = await spawn();
  expect(await ann.call("proc.conversation.policy.get", { pid })).toEqual({
    ok: true,
    pid,
    policy: { conversationId: "default", overflow: "manual", compactAtPressure: 0.9, keepLast: 80, updatedAt: 0 },
  });
});

stages("proc.conversation.policy.set:sets", async ({ spawn, ann }) => {
  const { pid } = await spawn();
  const set = (args: object) => ann.call("proc.conversation.policy.set", { pid, ...args });
  expect((await set({ overflow: "auto-compact", keepLast: 4 })).policy).toMatchObject({
    overflow: "auto-compact",
    compactAtPressure: 0.9,
    keepLast: 4,
  });
  expect((await set({ compactAtPressure: 0.5 })).policy).toMatchObject({ overflow: "auto-compact", compactAtPressure: 0.5, keepLast: 4 });
  expect((await ann.call("proc.conversation.policy.get", { pid })).policy).toMatchObject({ compactAtPressure: 0.5 });
  for (const wrong of [{ compactAtPressure: 0 }, { compactAtPressure: 1.1 }, { keepLast: -1 }, { overflow: "maybe" }])
    await expectRefusal(set(wrong), 400);
});

stages("proc.conversation.policy.set:fail", async ({ spawn, ann, model, set }) => {
  const agent = await spawn();
  await set("config/ai/context_window_tokens", "10000");
  await set("config/ai/max_tokens", "1000");
  await ann.call("proc.conversation.policy.set", { pid: agent.pid, overflow: "fail" });
  expect(await agent.ask("x".repeat(60_000))).toMatchObject({ status: "error", reason: "context.policy.fail" });
  expect(model.asked).toHaveLength(0);
  const { messages, context } = await agent.history();
  expect(messages.at(-1)).toMatchObject({ role: "system", content: expect.stringContaining("Compact it manually") });
  expect(context).toMatchObject({ contextWindowTokens: 10_000, maxOutputTokens: 1_000, level: "full" });
});

stages("proc.conversation.policy.set:auto-compact", async ({ spawn, ann, model, set }) => {
  const agent = await spawn();
  const { pid } = agent;
  await set("config/ai/context_window_tokens", "20000");
  await set("config/ai/max_tokens", "1000");
  await ann.call("proc.conversation.policy.set", { pid, overflow: "auto-compact", compactAtPressure: 0.8, keepLast: 2 });
  model.on(/^elephants y/, says("Noted.")).on(/What was it about\?/, says("I remember."));
  model.on(TRANSCRIPT, says("They spoke of elephants."));
  await agent.ask(`elephants ${"y".repeat(40_000)}`);
  const runId = await agent.say(`What was it about? ${"z".repeat(15_000)}`);
  expect(await agent.finished(runId)).toMatchObject({ status: "ok", text: "I remember." });
  const [, summary, answer] = model.asked;
  expect(summary!.body.tools ?? []).toEqual([]);
  expect(toldText(answer!)).toContain("They spoke of elephants.");
  expect(toldText(answer!)).toContain("What was it about?");
  expect(toldText(answer!)).not.toContain("y".repeat(1000));
  const { messages } = await agent.history();
  expect(messages[0]).toMatchObject({ role: "system", content: expect.stringContaining("was compacted") });
  const { segments } = await ann.call("proc.conversation.segments", { pid });
  expect(segments).toHaveLength(1);
  expect((await archived(ann, segments[0]!.archivePath))[0]).toMatchObject({ role: "user", content: expect.stringContaining("elephants") });
  expect(agent.of("proc.changed").some(({ event }) => event === "conversation.auto_compacted")).toBe(true);
});

stages("proc.conversation.compact:prefix", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("1", says("One.")).on("2", says("Two.")).on("3", says("Three."));
  for (const word of ["1", "2", "3"]) await agent.ask(word);
  const before = (await agent.history()).messages;
  const done = await ann.call("proc.conversation.compact", { pid, keepLast: 2, summary: "They counted to two." });
  expect(done).toMatchObject({
    ok: true,
    pid,
    conversationId: "default",
    archivedMessages: 4,
    archivedTo: done.segment.archivePath,
    summaryMessageId: before[0]!.id,
    segment: {
      kind: "compaction",
      generation: 1,
      fromMessageId: before[0]!.id,
      toMessageId: before[3]!.id,
      summaryMessageId: before[0]!.id,
    },
  });
  expect(done.archivedTo).toBe(`/var/sessions/ann/${pid}/conversations/default/${done.segment.id}.jsonl.gz`);
  const { messages } = await agent.history();
  expect(messages.slice(1)).toEqual(before.slice(4));
  const marker = String(messages[0]!.content);
  for (const word of ["4 earlier messages", done.archivedTo, "They counted to two."]) expect(marker).toContain(word);
  expect((await archived(ann, done.archivedTo)).map(({ content }) => content)).toEqual(["1", "One.", "2", "Two."]);
  model.on("4", says("Four."));
  await agent.ask("4");
  expect(toldText(model.asked.at(-1)!)).toContain("They counted to two.");
});

stages("proc.conversation.compact:generates", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("1", says("One.")).on(TRANSCRIPT, says("A short summary."));
  await agent.ask("1");
  const [, last] = (await agent.history()).messages;
  await ann.call("proc.conversation.compact", { pid, throughMessageId: last!.id, generateSummary: true });
  expect(toldText(model.asked[1]!)).toContain("One.");
  expect(String((await agent.history()).messages[0]!.content)).toContain("A short summary.");
  model.on(/2$/, { status: 401 }).on(/3$/, says("Three."));
  await agent.ask("2");
  await agent.ask("3");
  model.on(TRANSCRIPT, { status: 401 });
  await expectRefusal(ann.call("proc.conversation.compact", { pid, keepLast: 0, generateSummary: true }), 503, /summary/);
});

stages("proc.conversation.compact:refuses", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  const compact = (args: object) => ann.call("proc.conversation.compact", { pid, ...args });
  await expectRefusal(compact({ keepLast: 1, throughMessageId: 1, summary: "x" }), 400, /exactly one of keepLast/);
  await expectRefusal(compact({ summary: "x" }), 400, /exactly one of keepLast/);
  await expectRefusal(compact({ keepLast: 1 }), 400, /exactly one of summary/);
  await expectRefusal(compact({ keepLast: 1, summary: "x", generateSummary: true }), 400, /exactly one of summary/);
  await expectRefusal(compact({ keepLast: 1, summary: "x" }), 409, /No conversation messages selected/);
  await expectRefusal(compact({ throughMessageId: 999_999, summary: "x" }), 404, /Message not found/);
  const release = model.holds("1", says("One."));
  const runId = await agent.say("1");
  await expect.poll(() => model.asked.length).toBe(1);
  await expectRefusal(compact({ keepLast: 0, summary: "x" }), 409, /^Conversation is active: default/);
  release();
  await agent.finished(runId);
});

stages("proc.conversation.segments:lists", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  const segments = async () => (await ann.call("proc.conversation.segments", { pid })).segments;
  expect(await segments()).toEqual([]);
  model.on("1", says("One.")).on(/2$/, says("Two."));
  await agent.ask("1");
  const first = await ann.call("proc.conversation.compact", { pid, keepLast: 0, summary: "One." });
  await agent.ask("2");
  const second = await ann.call("proc.conversation.compact", { pid, keepLast: 0, summary: "Two." });
  expect(await segments()).toEqual([first.segment, second.segment]);
  // Segments outlive the conversation they came from.
  await ann.call("proc.conversation.reset", { pid });
  expect(await segments()).toHaveLength(2);
});

stages("proc.conversation.segment.read:pages", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("Read it.", wants(["Read", { target: "gsv", path: "/no/such/file" }]), says("It is not there."));
  await agent.ask("Read it.");
  const before = (await agent.history()).messages;
  const { segment } = await ann.call("proc.conversation.compact", { pid, keepLast: 0, summary: "Nothing found." });
  const read = (page: object) => ann.call("proc.conversation.segment.read", { pid, segmentId: segment.id, ...page });
  // Word for word, including the tool's name and its error.
  expect(await read({})).toEqual({ ok: true, pid, conversationId: "default", segment, messages: before, messageCount: 4 });
  expect((await read({ limit: 1_000_000 })).messages[2]!.content).toMatchObject({ toolName: "Read", isError: true });
  expect(await read({ limit: 2, offset: 1 })).toMatchObject({ messages: before.slice(1, 3), truncated: true });
  expect((await agent.history()).messageCount).toBe(1);
  await expectRefusal(ann.call("proc.conversation.segment.read", { pid, segmentId: "none" }), 404, /segment not found/);
});

stages("proc.conversation.fork:message", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("1", says("One.")).on("2", says("Two.")).on("Or?", says("Otherwise."));
  await agent.ask("1");
  await agent.ask("2");
  const { messages } = await agent.history();
  const through = messages[1]!.id;
  const forked = await ann.call("proc.conversation.fork", { pid, throughMessageId: through, targetConversationId: "side" });
  expect(forked).toMatchObject({
    ok: true,
    pid,
    sourceConversationId: "default",
    targetConversation: { id: "side", title: `Fork of default at message ${through}`, messageCount: 2, generation: 1 },
    throughMessageId: through,
    restoredMessages: 2,
    includedLiveSuffix: false,
  });
  const copied = (await agent.history({ conversationId: "side" })).messages;
  expect(copied.map(({ role, content, timestamp }) => ({ role, content, timestamp }))).toEqual(
    messages.slice(0, 2).map(({ role, content, timestamp }) => ({ role, content, timestamp })),
  );
  expect(copied[0]!.id).toBeGreaterThan(messages.at(-1)!.id);
  await agent.ask("Or?", { conversationId: "side" });
  expect((await agent.history()).messageCount).toBe(4);
  await expectRefusal(
    ann.call("proc.conversation.fork", { pid, throughMessageId: through, targetConversationId: "side" }),
    409,
    /already has messages/,
  );
  await expectRefusal(ann.call("proc.conversation.fork", { pid }), 400, /exactly one/);
  await expectRefusal(ann.call("proc.conversation.fork", { pid, throughMessageId: 1, segmentId: "x" }), 400, /exactly one/);
  await expectRefusal(ann.call("proc.conversation.fork", { pid, throughMessageId: 999_999 }), 404);
});

stages("proc.conversation.fork:segment", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("1", says("One.")).on("2", says("Two.")).on("3", says("Three."));
  await agent.ask("1");
  await agent.ask("2");
  const { segment } = await ann.call("proc.conversation.compact", { pid, keepLast: 2, summary: "They counted." });
  await agent.ask("3");
  const words = async (conversationId: string) => (await agent.history({ conversationId })).messages.map(({ content }) => content);
  const whole = await ann.call("proc.conversation.fork", { pid, segmentId: segment.id });
  expect(whole).toMatchObject({ segment, restoredMessages: 4, includedLiveSuffix: true });
  expect(whole.targetConversation.title).toBe(`Fork of default at ${segment.id.slice(0, 8)}`);
  expect(await words(whole.targetConversation.id)).toEqual(["1", "One.", "2", "Two."]);
  const part = await ann.call("proc.conversation.fork", { pid, segmentId: segment.id, includeLiveSuffix: false });
  expect(part).toMatchObject({ restoredMessages: 2, includedLiveSuffix: false });
  expect(await words(part.targetConversation.id)).toEqual(["1", "One."]);
});

/** A conversation with this many tool results and three other messages. An unknown tool is answered fastest. */
async function manyMessages(agent: Watched, model: ScriptedModel, count: number) {
  const calls = Array.from({ length: count }, (): [string, object] => ["Fly", { target: "gsv" }]);
  model.on("Fly.", wants(...calls), says("I cannot fly."));
  expect(await agent.ask("Fly.")).toMatchObject({ status: "ok" });
}

/** The lines of an archive, as its owner reads it with a command. */
export async function archived(client: Client, path: string): Promise<Record<string, unknown>[]> {
  const read = await client.call("shell.exec", { input: `gzip -dc '${path}'` });
  expect(read).toMatchObject({ status: "completed" });
  return (read as { output: string }).output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
