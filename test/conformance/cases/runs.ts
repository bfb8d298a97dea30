// Runs of agents: every message to a process is answered, ends with its own event, and can be followed and stopped.

import { expect } from "vitest";
import { says, toldText, toolNames, wants } from "../../support/models/scripted.ts";
import { stages, watch } from "../stage.ts";
import { expectRefusal } from "../verifies.ts";

stages("proc.send:answers", async ({ spawn, model, ann, uid }) => {
  const agent = await spawn();
  model.on("How is it?", says("It is a good day."));
  const sent = await ann.call("proc.send", { pid: agent.pid, message: "How is it?" });
  expect(sent).toEqual({ ok: true, status: "started", runId: sent.runId });
  const { runId } = sent;
  expect(await agent.finished(runId)).toMatchObject({
    pid: agent.pid,
    conversationId: "default",
    status: "ok",
    reason: "turn.complete",
    text: "It is a good day.",
    queuedCount: 0,
    usage: { input: 60, cacheRead: 40, output: 20 },
  });
  const [started] = agent.of("proc.run.started", runId);
  expect(started).toMatchObject({ pid: agent.pid, conversationId: "default", reason: "proc.send", queuedCount: 0 });
  expect(agent.of("proc.run.output", runId)).toMatchObject([{ text: "It is a good day.", thinking: [] }]);
  expect(agent.of("chat.complete", runId)).toMatchObject([{ text: "It is a good day.", usage: { output: 20 } }]);
  expect(agent.of("proc.changed").map(({ changes }) => changes)).toContainEqual(["messages"]);
  const { messages, messageCount } = await agent.history();
  expect(messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "How is it?"],
    ["assistant", "It is a good day."],
  ]);
  expect(messageCount).toBe(2);
  const { processes } = await ann.call("proc.list", {});
  expect(processes.find(({ pid }) => pid === agent.pid)).toMatchObject({ uid, state: "idle", activeRunId: null, queuedCount: 0 });
});

stages("proc.send:init", async ({ model, ann, uid, somebody }) => {
  model.on("Where are you?", says("At home."));
  const home = await watch(ann, `init:${uid}`);
  const { runId } = await ann.call("proc.send", { message: "Where are you?" });
  expect(await home.finished(runId)).toMatchObject({ pid: `init:${uid}`, text: "At home." });
  home.stop();
  // Every user has one.
  const other = await somebody();
  const { username, uid: theirs, home: place } = other.session.identity.process;
  expect((await other.call("proc.list", {})).processes).toMatchObject([
    { pid: `init:${theirs}`, uid: theirs, profile: "init", parentPid: null, label: `init (${username})`, cwd: place, state: "idle" },
  ]);
});

stages("proc.send:stream", async ({ spawn, model }) => {
  const agent = await spawn();
  const text = "One word after another, until the sentence ends.";
  model.on("Speak.", says(text));
  const runId = await agent.say("Speak.");
  await agent.finished(runId);
  const pieces = agent.pieces.filter((piece) => piece.runId === runId);
  // While its owner uses much of the gateway's time, pieces are merged: each covers the numbers from `firstSeq` to `seq`.
  expect(pieces.map(({ firstSeq, seq }) => firstSeq ?? seq)).toEqual([1, ...pieces.slice(0, -1).map(({ seq }) => seq + 1)]);
  const types = pieces.map(({ event }) => event.type);
  expect(types).toContain("text_start");
  expect(types.at(-1)).toBe("done");
  const deltas = pieces.flatMap(({ event }) => (event.type === "text_delta" ? event.delta : []));
  // A start, at least two deltas, an end and `done`.
  expect(pieces.at(-1)!.seq).toBeGreaterThanOrEqual(5);
  expect(deltas.join("")).toBe(text);
});

stages("proc.send:tools", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const home = ann.session.identity.process.home;
  await ann.call("fs.write", { path: `${home}/tools.txt`, content: "seven" });
  const both = wants(["Read", { target: "gsv", path: "tools.txt" }], ["Shell", { target: "gsv", input: "echo eight" }]);
  model.on("Look.", both, says("Both."));
  const runId = await agent.say("Look.");
  expect(await agent.finished(runId)).toMatchObject({ status: "ok", text: "Both." });
  const [first, second] = model.asked;
  expect(toolNames(first!).toSorted()).toEqual(["CodeMode", "Delete", "Edit", "Read", "Search", "Shell", "Write"]);
  expect(toldText(second!)).toContain("seven");
  expect(toldText(second!)).toContain("eight");
  const started = agent.of("proc.run.tool.started", runId);
  expect(started).toMatchObject([
    { name: "Read", syscall: "fs.read", args: { target: "gsv", path: "tools.txt" }, pid: agent.pid },
    { name: "Shell", syscall: "shell.exec", args: { target: "gsv", input: "echo eight" } },
  ]);
  const finished = agent.of("proc.run.tool.finished", runId);
  expect(finished).toMatchObject([
    { name: "Read", ok: true, callId: started[0]!.callId },
    { name: "Shell", ok: true, callId: started[1]!.callId },
  ]);
  const { messages } = await agent.history();
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "toolResult", "assistant"]);
  expect(messages[1]!.content).toMatchObject({
    text: "",
    thinking: [],
    toolCalls: [{ type: "toolCall", name: "Read" }, { name: "Shell" }],
  });
  expect(messages[2]!.content).toMatchObject({ toolName: "Read", isError: false, toolCallId: started[0]!.callId });
});

stages("proc.send:tool-errors", async ({ spawn, model }) => {
  const agent = await spawn();
  model.on(
    "Try.",
    wants(["Fly", { target: "gsv" }], ["Read", { target: "gsv", path: "/nothing/there" }], ["Read", { path: "a" }]),
    { say: [{ type: "call", id: "broken", name: "Read", args: '{"target": ' }] },
    says("I see."),
  );
  expect(await agent.ask("Try.")).toMatchObject({ status: "ok", text: "I see." });
  const results = (await agent.history()).messages.filter(({ role }) => role === "toolResult").map(({ content }) => content);
  expect(results).toMatchObject([
    { isError: true, output: expect.stringContaining('Unknown tool "Fly"') },
    { isError: true, output: expect.stringMatching(/^Error: .*\/nothing\/there/) },
    { isError: true, output: expect.stringContaining("target is required") },
    { isError: true, output: expect.stringContaining("not valid JSON") },
  ]);
});

stages("proc.send:wires", async ({ spawn, model, serve, ann }) => {
  const home = ann.session.identity.process.home;
  await ann.call("fs.write", { path: `${home}/wires.txt`, content: "on every wire" });
  for (const wire of ["chat", "responses", "anthropic"] as const) {
    await serve(wire);
    const agent = await spawn();
    const before = model.asked.length;
    model.on("Read it.", wants(["Read", { target: "gsv", path: "wires.txt" }]), says(`Read by ${wire}.`));
    expect(await agent.ask("Read it."), wire).toMatchObject({ status: "ok", text: `Read by ${wire}.` });
    const [first, second] = model.asked.slice(before);
    expect(first?.path).toBe({ chat: "/v1/chat/completions", responses: "/v1/responses", anthropic: "/v1/messages" }[wire]);
    expect(first?.body.model).toBe(model.name);
    expect(toldText(first!)).toContain("Read it.");
    expect(toldText(second!)).toContain("on every wire");
  }
});

stages("proc.send:queues", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const release = model.on("Two", says("Second.")).on("Three", says("Third.")).holds("One", says("First."));
  const first = await agent.say("One");
  await expect.poll(() => model.asked.length).toBe(1);
  const second = await ann.call("proc.send", { pid: agent.pid, message: "Two" });
  const third = await ann.call("proc.send", { pid: agent.pid, message: "Three", conversationId: "other" });
  expect([second.queued, third.queued]).toEqual([true, true]);
  const enqueued = () => agent.of("proc.changed").filter(({ enqueuedRunId }) => enqueuedRunId !== undefined);
  await expect.poll(enqueued).toMatchObject([
    { changes: ["queue"], enqueuedRunId: second.runId, conversationId: "default", queuedCount: 1 },
    { changes: ["queue"], enqueuedRunId: third.runId, conversationId: "other", queuedCount: 2 },
  ]);
  await expect
    .poll(async () => (await ann.call("proc.list", {})).processes.find(({ pid }) => pid === agent.pid))
    .toMatchObject({ state: "running", activeRunId: first, activeConversationId: "default", queuedCount: 2 });
  release();
  expect(await agent.finished(first)).toMatchObject({ text: "First.", queuedCount: 2 });
  expect(await agent.finished(second.runId)).toMatchObject({ text: "Second.", queuedCount: 1 });
  expect(await agent.finished(third.runId)).toMatchObject({ text: "Third.", conversationId: "other", queuedCount: 0 });
  expect(agent.of("proc.run.started", second.runId)).toMatchObject([{ reason: "queue.promote" }]);
  expect(agent.of("proc.run.finished")).toHaveLength(3);
});

stages("proc.send:joins", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  model.on("And think of the cat.", says("Both done."));
  const release = model.holds("Work on this.", wants(["Shell", { target: "gsv", input: "echo done" }]));
  const first = await agent.say("Work on this.");
  await expect.poll(() => model.asked.length).toBe(1);
  const { runId: second } = await ann.call("proc.send", { pid: agent.pid, message: "And think of the cat." });
  release();
  // A message that arrived during a tool call is delivered before the model continues, and its own run ends too.
  expect(await agent.finished(first)).toMatchObject({ status: "ok", text: "Both done." });
  expect(await agent.finished(second)).toMatchObject({ status: "ok", text: "Both done." });
  expect(agent.of("proc.run.finished", second)).toHaveLength(1);
  expect(model.asked).toHaveLength(2);
  expect(toldText(model.asked[1]!)).toContain("And think of the cat.");
});

stages("proc.send:run-id", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const runId = `mine-${agent.pid}`;
  model.on("Say it once.", says("Once."));
  const send = () => ann.call("proc.send", { pid: agent.pid, message: "Say it once.", runId });
  expect((await Promise.all([send(), send(), send()])).map((one) => one.runId)).toEqual([runId, runId, runId]);
  await agent.finished(runId);
  expect((await send()).runId).toBe(runId);
  expect((await agent.history()).messageCount).toBe(2);
  expect(agent.of("proc.run.finished", runId)).toHaveLength(1);
  expect(model.asked).toHaveLength(1);
});

stages("proc.send:run-id-foreign", async ({ spawn, model, ann, somebody }) => {
  const agent = await spawn();
  const person = await somebody();
  const other = await spawn({}, person);
  const runId = `same-${agent.pid}`;
  const heard: string[] = [];
  const path = `${ann.session.identity.process.home}/same.txt`;
  model.on("Delete it.", wants(["Delete", { target: "gsv", path }]), says("Gone.")).on("Hello.", says("Mine."));
  await agent.say("Delete it.", { runId });
  const { requestId } = await agent.asked();
  // Another user's run with the same id starts and ends without changing this one.
  person.onSignal(({ signal, payload }) => heard.push(`${signal} ${String((payload as { pid?: unknown }).pid)}`));
  await other.say("Hello.", { runId });
  expect(await other.finished(runId)).toMatchObject({ pid: other.pid, text: "Mine." });
  expect((await agent.history()).pendingHil).toMatchObject({ requestId });
  await agent.answer(requestId, "approve");
  expect(await agent.finished(runId)).toMatchObject({ pid: agent.pid, status: "ok", text: "Gone." });
  expect(heard.filter((one) => one.endsWith(agent.pid))).toEqual([]);
});

stages("proc.send:refuses", async ({ spawn, ann }) => {
  const { pid } = await spawn();
  await expectRefusal(ann.call("proc.send", { pid, message: " " }), 400, /message/);
  await expectRefusal(ann.call("proc.send", { pid: "nobody", message: "x" }), 404, "Process not found: nobody");
  const media = [{ type: "image" as const, mimeType: "image/png", data: "not base64!" }];
  await expectRefusal(ann.call("proc.send", { pid, message: "x", media }), 400, /base64/);
  await expectRefusal(
    ann.call("proc.send", { pid, message: "x", media: [{ type: "image", mimeType: "image/png" }] }),
    400,
    /data or a url/,
  );
});

stages("proc.send:model-fails", async ({ spawn, model }) => {
  const agent = await spawn();
  model.on("Hello?", { status: 401 });
  const end = await agent.ask("Hello?");
  expect(end).toMatchObject({ status: "error", reason: "generation.error", text: null });
  // The provider repeats the key in its message; nothing else does.
  expect(JSON.stringify(agent.events)).not.toContain("sk-canary");
  const { messages } = await agent.history();
  expect(messages.at(-1)).toMatchObject({ role: "system", content: expect.stringMatching(/^Generation failed: /) });
  model.on(/And now\?$/, { say: [] });
  expect(await agent.ask("And now?")).toMatchObject({ status: "error", reason: "generation.empty" });
  model.on(/Once more\?$/, { tries: [{ status: 500, headers: { "retry-after": "0" } }, says("Back again.")] });
  const runId = await agent.say("Once more?");
  expect(await agent.finished(runId)).toMatchObject({ status: "ok", text: "Back again." });
  expect(agent.of("proc.run.retrying", runId)).toMatchObject([{ attempt: expect.any(Number), why: expect.any(String) }]);
});

stages("proc.send:output-capped", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  model.on("Count.", wants(["Shell", { target: "gsv", input: "seq 1000000 1009000" }]), says("Long."));
  expect(await agent.ask("Count.")).toMatchObject({ status: "ok" });
  const { output } = await agent.result();
  expect(output.length).toBeLessThan(45_000);
  const path = /all of it is in (\S+) on gsv/.exec(output)?.[1];
  expect(path).toMatch(/^\/var\/sessions\/ann\//);
  const { matches } = (await ann.call("fs.search", { path: path!, query: "1005000" })) as { matches: unknown[] };
  expect(matches).toHaveLength(1);
});
