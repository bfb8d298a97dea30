// Following, routing and aborting runs of agents, and the queue.

import { expect } from "vitest";
import { says, wants } from "../../support/models/scripted.ts";
import { stages, watch } from "../stage.ts";
import { expectRefusal } from "../verifies.ts";

stages("proc.subscribe:cursor", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { seq: before } = await ann.call("proc.subscribe", { pid: agent.pid });
  model.on("1", says("One.")).on("2", says("Two."));
  await agent.ask("1");
  const half = agent.events.at(-1)!.seq;
  await agent.ask("2");
  const all = agent.events.map(({ seq }) => seq);
  expect(all).toEqual(all.map((_, at) => before + 1 + at));
  const since = await ann.call("proc.subscribe", { pid: agent.pid, after: half });
  expect(since).toMatchObject({ ok: true, pid: agent.pid, seq: all.at(-1), isWhole: true, live: null });
  expect(since.events).toEqual(agent.events.filter(({ seq }) => seq > half).map(({ isPast: _, ...event }) => event));
  expect((await ann.call("proc.subscribe", { pid: agent.pid, after: all.at(-1)! })).events).toEqual([]);
  expect((await ann.call("proc.subscribe", { pid: agent.pid, after: all.at(-1)! + 100 })).isWhole).toBe(false);
});

stages("proc.subscribe:many", async ({ spawn, model, again }) => {
  const agent = await spawn();
  const others = await Promise.all([again(), again()].map(async (client) => watch(await client, agent.pid)));
  model.on("Tell all.", says("To everybody."));
  const runId = await agent.say("Tell all.");
  for (const one of [agent, ...others]) {
    expect(await one.finished(runId)).toMatchObject({ text: "To everybody." });
    expect(one.events).toEqual(agent.events);
    expect(one.pieces.map(({ seq }) => seq)).toEqual(agent.pieces.map(({ seq }) => seq));
    one.stop();
  }
});

stages("proc.subscribe:live", async ({ spawn, model, again }) => {
  const agent = await spawn();
  const script = says("The first half of it, and after some time the second half.");
  model.on("Slowly.", { hang: true, script, after: 700 });
  const runId = await agent.say("Slowly.");
  await expect.poll(() => agent.pieces.some(({ event }) => event.type === "text_delta")).toBe(true);
  const { live } = await (await again()).call("proc.subscribe", { pid: agent.pid });
  expect(live).toMatchObject({
    runId,
    conversationId: "default",
    blocks: [{ type: "text", text: expect.stringMatching(/^The first half/) }],
  });
});

stages("proc.unsubscribe:stops", async ({ spawn, model, again, ann }) => {
  const agent = await spawn();
  const other = await again();
  const heard: string[] = [];
  other.onSignal(({ signal }) => signal !== "sys.changed" && heard.push(signal));
  expect(await other.call("proc.unsubscribe", { pid: agent.pid })).toEqual({ ok: true, pid: agent.pid, unsubscribed: false });
  await other.call("proc.subscribe", { pid: agent.pid });
  model.on("1", says("Heard.")).on("2", says("Not heard."));
  await agent.ask("1");
  await expect.poll(() => heard).toContain("chat.complete");
  expect(await other.call("proc.unsubscribe", { pid: agent.pid })).toEqual({ ok: true, pid: agent.pid, unsubscribed: true });
  heard.length = 0;
  await agent.ask("2");
  await other.call("proc.list", {});
  await ann.call("proc.list", {});
  expect(heard).toEqual([]);
});

stages("proc.send:routes", async ({ model, ann, again, world, uid }) => {
  const [sender, other, stranger] = [await again(), await again(), await world.bob()];
  const heard = new Map([sender, other, stranger].map((client) => [client, [] as string[]]));
  for (const [client, signals] of heard)
    client.onSignal(({ signal, payload }) => isOfProcess(payload) && signals.push(`${signal} ${payload.pid}`));
  const { pid } = await ann.call("proc.spawn", { profile: "task" });
  model.on("Who hears this?", says("To you alone.")).on("Who hears this now?", says("To all of yours."));
  await sender.call("proc.send", { pid, message: "Who hears this?" });
  await expect.poll(() => heard.get(sender)).toContain(`chat.complete ${pid}`);
  expect(heard.get(sender)).toEqual(
    expect.arrayContaining(["proc.run.started", "proc.run.output", "proc.run.finished"].map((one) => `${one} ${pid}`)),
  );
  await other.call("proc.list", {});
  expect(heard.get(other)).toEqual([]);
  // Signals of a run that no connection started go to all connections of its owner.
  await ann.call("proc.spawn", { profile: "init", prompt: "Who hears this now?" });
  for (const client of [sender, other]) await expect.poll(() => heard.get(client)).toContain(`chat.complete init:${uid}`);
  await stranger.call("proc.list", {});
  expect(heard.get(stranger)).toEqual([]);
});

stages("proc.send:route-gone", async ({ model, ann, again }) => {
  const sender = await again();
  const heard: string[] = [];
  const { pid } = await ann.call("proc.spawn", { profile: "task" });
  const other = await again();
  other.onSignal(({ signal, payload }) => isOfProcess(payload) && heard.push(`${signal} ${payload.pid}`));
  const release = model.holds("I go.", says("Where are you?"));
  await sender.call("proc.send", { pid, message: "I go." });
  await expect.poll(() => model.asked.length).toBe(1);
  sender.close();
  await expect.poll(async () => (await ann.call("sys.connection.list", {})).connections.length).toBe(2);
  release();
  await expect.poll(() => heard).toContain(`chat.complete ${pid}`);
});

stages("proc.abort:model", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  model.on("Hang.", { hang: true, script: says("I begin and never end, never."), after: 500 }).on(/Next\.$/, says("Next one."));
  const runId = await agent.say("Hang.");
  await expect.poll(() => agent.pieces.length).toBeGreaterThan(0);
  const { runId: queued } = await ann.call("proc.send", { pid: agent.pid, message: "Next." });
  expect(await ann.call("proc.abort", { pid: agent.pid })).toEqual({
    ok: true,
    pid: agent.pid,
    aborted: true,
    runId,
    continuedQueuedRunId: queued,
  });
  expect(await agent.finished(runId)).toMatchObject({ status: "aborted", reason: "user", aborted: true, text: null });
  expect(agent.of("chat.complete", runId)).toMatchObject([{ aborted: true }]);
  expect(await agent.finished(queued)).toMatchObject({ status: "ok", text: "Next one." });
  // The model request is cancelled.
  await expect.poll(() => model.provider.gone).toBeGreaterThan(0);
  expect(await ann.call("proc.abort", { pid: agent.pid })).toEqual({ ok: true, pid: agent.pid, aborted: false });
});

stages("proc.abort:tool", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const both = wants(["Shell", { target: "gsv", input: "sleep 600; echo late > late.txt" }], ["Read", { target: "gsv", path: "a" }]);
  model.on("Sleep.", both).on(/Still there\?$/, says("Awake."));
  const runId = await agent.say("Sleep.");
  await agent.told("proc.run.tool.started", runId);
  expect(await ann.call("proc.abort", { pid: agent.pid })).toMatchObject({ aborted: true, runId, interruptedToolCalls: 2 });
  await agent.finished(runId);
  const { messages } = await agent.history();
  // Every call has a result, and late results change nothing.
  expect(messages.slice(2).map(({ content }) => content)).toMatchObject([
    { toolName: "Shell", isError: true, output: "Error: User interrupted tool execution" },
    { toolName: "Read", isError: true, output: "Error: User interrupted tool execution" },
  ]);
  expect(await agent.ask("Still there?")).toMatchObject({ status: "ok", text: "Awake." });
  expect(agent.of("proc.run.finished", runId)).toHaveLength(1);
  expect(model.asked).toHaveLength(2);
});

stages("proc.abort:queued", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const release = model.holds("One", says("First."));
  const first = await agent.say("One");
  await expect.poll(() => model.asked.length).toBe(1);
  const second = await agent.say("Two");
  expect(await ann.call("proc.abort", { pid: agent.pid, runId: second })).toMatchObject({ aborted: true, runId: second });
  expect(await agent.finished(second)).toMatchObject({ status: "aborted" });
  release();
  expect(await agent.finished(first)).toMatchObject({ status: "ok", text: "First." });
  expect((await agent.history()).messages.map(({ content }) => content)).toEqual(["One", "First."]);
});

stages("proc.queue.list:waiting", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const release = model.holds("One", says("First."));
  const first = await agent.say("One");
  await expect.poll(() => model.asked.length).toBe(1);
  const second = await agent.say("Two");
  const third = await agent.say("Three", { conversationId: "other" });
  const { messages } = await ann.call("proc.queue.list", { pid: agent.pid });
  expect(messages).toMatchObject([
    { runId: second, conversationId: "default", text: "Two" },
    { runId: third, conversationId: "other", text: "Three" },
  ]);
  expect((await ann.call("proc.queue.list", { pid: agent.pid, conversationId: "other" })).messages).toHaveLength(1);
  release();
  await agent.finished(first);
});

stages("proc.queue.edit:words", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const release = model.on("Two", says("Second.")).holds("One", says("First."));
  const first = await agent.say("One");
  await expect.poll(() => model.asked.length).toBe(1);
  const second = await agent.say("Twoo");
  const { pid } = agent;
  expect(await ann.call("proc.queue.edit", { pid, runId: second, message: "Two" })).toEqual({ ok: true, pid, runId: second, text: "Two" });
  await expectRefusal(ann.call("proc.queue.edit", { pid, runId: first, message: "x" }), 409, /no longer queued/);
  await expectRefusal(ann.call("proc.queue.edit", { pid, runId: "none", message: "x" }), 404);
  release();
  await agent.finished(second);
  expect((await agent.history()).messages.map(({ content }) => content)).toEqual(["One", "First.", "Two", "Second."]);
});

stages("proc.queue.withdraw:ends", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const release = model.holds("One", says("First."));
  const first = await agent.say("One");
  await expect.poll(() => model.asked.length).toBe(1);
  const second = await agent.say("Two");
  const { pid } = agent;
  expect(await ann.call("proc.queue.withdraw", { pid, runId: second })).toEqual({ ok: true, pid, runId: second, text: "Two" });
  expect(await agent.finished(second)).toMatchObject({ status: "aborted" });
  // The active run continues, and is listed.
  const { processes } = await ann.call("proc.list", {});
  expect(processes.find((one) => one.pid === pid)).toMatchObject({ state: "running", activeRunId: first });
  await expectRefusal(ann.call("proc.queue.withdraw", { pid, runId: second }), 409);
  release();
  await agent.finished(first);
  expect((await agent.history()).messageCount).toBe(2);
});

function isOfProcess(payload: unknown): payload is { pid: string } {
  return typeof payload === "object" && payload !== null && "pid" in payload;
}
