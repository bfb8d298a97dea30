// signal.*: processes that are told of signals of others.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import type { Arguments } from "../../../src/client/connection.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { says, toldText, wants } from "../../support/models/scripted.ts";
import { type Stage, stages, type Watched } from "../stage.ts";
import { expectRefusal, refusal, verifies } from "../verifies.ts";

const ABSENT = "00000000-0000-4000-8000-000000000000";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const FINISHED = "proc.run.finished";
const DAY_MS = 24 * 3_600_000;

type WatchArgs = Arguments<"signal.watch">;

async function watchFor(client: Client, args: Partial<WatchArgs>): Promise<string> {
  return (await client.call("signal.watch", { signal: FINISHED, ...args })).watchId;
}

async function findWatch(client: Client, watchId: string) {
  return (await client.call("signal.list", {})).watches.find((one) => one.watchId === watchId);
}

/** The messages that a process got from watches. */
async function listMessages(client: Client, pid: string): Promise<string[]> {
  const { messages } = await client.call("proc.history", { pid, limit: 200 });
  return messages.filter(({ role }) => role === "system").map(({ content }) => String(content));
}

async function waitForMessages(client: Client, pid: string, count: number): Promise<string[]> {
  await expect.poll(async () => (await listMessages(client, pid)).length, { message: `messages of ${pid}` }).toBe(count);
  return listMessages(client, pid);
}

/** Has an agent run a command, which a person approves if it asks. */
async function runCommand(agent: Watched, model: Stage["model"], input: string) {
  const prompt = `Run: ${input}`;
  model.on(prompt, wants(["Shell", { target: "gsv", input }]), says("Tried."));
  const known = agent.of("proc.run.hil.requested").length;
  const runId = await agent.say(prompt);
  await expect.poll(() => agent.of("proc.run.hil.requested").length > known || agent.of(FINISHED, runId).length > 0).toBe(true);
  const question = agent.of("proc.run.hil.requested")[known];
  if (question !== undefined) await agent.answer(String(question.requestId), "approve");
  await agent.finished(runId);
  return { ...(await agent.result()), isAsked: question !== undefined };
}

stages("signal.watch:tells", async ({ spawn, model, ann }) => {
  const [watcher, source] = [await spawn(), await spawn()];
  model.otherwise(says("I see."));
  model.on("Work.", says("Worked."));
  const changes: unknown[] = [];
  ann.onSignal(({ signal, payload }) => signal === "sys.changed" && changes.push(...(payload as { changes: string[] }).changes));
  const state = { step: 2, list: ["a"] };
  const made = await ann.call("signal.watch", { signal: FINISHED, pid: watcher.pid, processId: source.pid, key: "notes", state });
  const watch = { watchId: made.watchId, pid: watcher.pid, signal: FINISHED, processId: source.pid, key: "notes", state };
  const { createdAt, expiresAt } = made;
  expect(await findWatch(ann, made.watchId)).toEqual({
    ...watch,
    once: true,
    status: "active",
    error: null,
    createdAt,
    updatedAt: createdAt,
    expiresAt,
  });
  expect(changes).toContain("watches");
  changes.length = 0;
  const runId = await source.say("Work.");
  const end = source.finished(runId);
  const started = await watcher.told("proc.run.started");
  expect(started).toMatchObject({ reason: "signal.watch", conversationId: "default" });
  expect(await watcher.finished(String(started.runId))).toMatchObject({ status: "ok", text: "I see." });
  const [message] = await waitForMessages(ann, watcher.pid, 1);
  const lines = message!.split("\n");
  expect(lines[0]).toBe(
    `[process event: signal.watch] Process ${source.pid} has emitted ${FINISHED}, which you watch since ${new Date(createdAt).toISOString()}.`,
  );
  expect(lines[1]).toBe(`Watch: ${made.watchId} (key notes).`);
  const blocks = [...message!.matchAll(/```json\n([\s\S]*?)\n```/g)].map(([, json]) => JSON.parse(json!) as unknown);
  expect(blocks).toEqual([state, await end]);
  expect(toldText(model.asked.at(-1)!)).toContain("has emitted proc.run.finished");
  // It was for one signal: it is gone, lists are told, and nothing more comes.
  await expect.poll(() => findWatch(ann, made.watchId)).toBeUndefined();
  await expect.poll(() => changes).toContain("watches");
  await source.ask("Work.");
  await watcher.ask("Anything else?");
  expect(await listMessages(ann, watcher.pid)).toHaveLength(1);
});

stages("signal.watch:agent", async ({ spawn, model, ann, world }) => {
  const [agent, source] = [await spawn(), await spawn()];
  const { pid: foreign } = await (await world.bob()).call("proc.spawn", { profile: "task" });
  const decision = async (profile: string, call: string) =>
    (await ann.call("proc.approval.preview", { profile, call, args: { signal: FINISHED, processId: source.pid } })).action;
  for (const [call, attended, unattended] of [
    ["signal.watch", "ask", "deny"],
    ["signal.unwatch", "auto", "auto"],
    ["signal.list", "auto", "auto"],
  ] as const)
    expect([call, await decision("task", call), await decision("cron", call)]).toEqual([call, attended, unattended]);
  // In one command, which a person approves.
  const options = [
    "",
    `--process ${agent.pid}`,
    `--process ${source.pid} --pid ${source.pid}`,
    `--process ${foreign}`,
    `--process ${ABSENT}`,
    `--process ${source.pid} --key mine --state-json '{"n":1}'`,
  ];
  const { isAsked, output } = await runCommand(agent, model, options.map((one) => `signal watch ${FINISHED} ${one} 2>&1`).join("; "));
  expect(isAsked).toBe(true);
  const [unnamed, self, others, ofOthers, ofNobody, made] = output.split("\n");
  expect(unnamed).toContain("needs processId");
  expect(self).toContain("cannot watch its own signals");
  expect(others).toContain("only for itself");
  expect(ofOthers).toContain(`Unknown process: ${foreign}`);
  expect(ofOthers!.replace(foreign, ABSENT)).toBe(ofNobody);
  expect(made).toMatch(/^Watching /);
  expect((await ann.call("signal.list", {})).watches.filter(({ pid }) => pid === agent.pid)).toMatchObject([
    { pid: agent.pid, processId: source.pid, key: "mine", state: { n: 1 }, once: true },
  ]);
  // Without approval it ends what it watches.
  expect(await runCommand(agent, model, "signal unwatch --key mine")).toMatchObject({ isAsked: false, isError: false });
  expect((await ann.call("signal.list", {})).watches.filter(({ pid }) => pid === agent.pid)).toEqual([]);
});

verifies("signal.watch:validates", async ({ alice }) => {
  const client = await alice();
  const refused = (args: object, code: number, message: string | RegExp) =>
    expectRefusal(client.call("signal.watch", { signal: FINISHED, ...args }), code, message);
  for (const signal of [undefined, "", "  "]) await refused({ signal }, 400, "signal is required");
  // Only processes emit what can be watched; the pieces of an answer are no events.
  for (const signal of ["pkg.changed", "device.status", "notification.created", "proc.run.stream", "process.message", "proc.run.finish"])
    await refused({ signal }, 400, `No process emits ${signal}`.concat(". Watch for one of: proc.changed, proc.run.started, ", SIGNALS));
  await refused({ processId: " " }, 400, /^processId is required/);
  await refused({ key: "" }, 400, /^key is required/);
  await refused({ ttlMs: "1" }, 400, /^ttlMs /);
  await refused({ once: 1 }, 400, /^once /);
  await refused({ state: "x".repeat(64_001) }, 413, /^state is larger/);
  const init = `init:${client.session.identity.process.uid}`;
  await refused({ processId: init }, 400, "A process cannot watch its own signals");
  const { pid } = await client.call("proc.spawn", { profile: "task" });
  await refused({ processId: pid, pid }, 400, "A process cannot watch its own signals");
});

const SIGNALS =
  "proc.run.output, proc.run.tool.started, proc.run.tool.finished, proc.run.hil.requested, proc.run.retrying, proc.run.finished, chat.complete";

verifies("signal.watch:bounds", async ({ alice }) => {
  const client = await alice();
  const { pid } = await client.call("proc.spawn", { profile: "task" });
  for (const [ttlMs, lives] of [
    [undefined, DAY_MS],
    [0, 1_000],
    [-5, 1_000],
    [999, 1_000],
    [5_000.5, 5_000],
    [30 * DAY_MS, 30 * DAY_MS],
    [1e15, 30 * DAY_MS],
  ] as const) {
    const made = await client.call("signal.watch", { signal: FINISHED, processId: pid, ...(ttlMs === undefined ? {} : { ttlMs }) });
    const { watchId, createdAt, expiresAt } = made;
    expect(made).toEqual({
      watchId: expect.stringMatching(UUID),
      created: true,
      createdAt: expect.any(Number),
      expiresAt: expect.any(Number),
    });
    expect([ttlMs, expiresAt! - createdAt]).toEqual([ttlMs, lives]);
    expect(await client.call("signal.unwatch", { watchId })).toEqual({ removed: 1 });
  }
  expect(await findWatch(client, await watchFor(client, { processId: pid }))).toMatchObject({ once: true });
  expect(await findWatch(client, await watchFor(client, { processId: pid, once: false }))).toMatchObject({ once: false });
});

stages("signal.watch:key", async ({ spawn, model, ann }) => {
  const [watcher, other, source] = [await spawn(), await spawn(), await spawn()];
  model.otherwise(says("Fine."));
  const args = { signal: FINISHED, pid: watcher.pid, processId: source.pid, key: "k" };
  const first = await ann.call("signal.watch", { ...args, state: 1 });
  const second = await ann.call("signal.watch", { ...args, signal: "proc.run.output", once: false, ttlMs: 60_000 });
  expect(second).toMatchObject({ watchId: first.watchId, created: false, createdAt: first.createdAt });
  expect(second.expiresAt).toBeLessThan(first.expiresAt!);
  const watch = await findWatch(ann, first.watchId);
  expect(watch).toMatchObject({ signal: "proc.run.output", once: false, status: "active", key: "k", expiresAt: second.expiresAt });
  expect(watch).not.toHaveProperty("state");
  // The same key of another process, and no key at all, are watches of their own.
  expect(await ann.call("signal.watch", { ...args, pid: other.pid })).toMatchObject({ created: true });
  const { key: _, ...keyless } = args;
  const ids = [await watchFor(ann, keyless), await watchFor(ann, keyless)];
  expect(new Set([first.watchId, ...ids]).size).toBe(3);
  for (const watchId of ids) await ann.call("signal.unwatch", { watchId });
  await source.ask("Work.");
  const [message] = await waitForMessages(ann, watcher.pid, 1);
  expect(message).toContain("has emitted proc.run.output");
  await waitForMessages(ann, other.pid, 1);
  expect(await ann.call("signal.unwatch", { key: "k" })).toEqual({ removed: 1 });
});

stages("signal.watch:repeats", async ({ spawn, model, ann }) => {
  const [watcher, source, stranger] = [await spawn(), await spawn(), await spawn()];
  model.otherwise(says("Fine."));
  const watchId = await watchFor(ann, { pid: watcher.pid, processId: source.pid, once: false });
  await source.ask("One.");
  await waitForMessages(ann, watcher.pid, 1);
  // Nothing is matched but the signal and the process that were named.
  await stranger.ask("Not this.");
  await source.ask("Two.");
  const told = await waitForMessages(ann, watcher.pid, 2);
  expect(told.every((message) => message.includes(`Process ${source.pid} has emitted ${FINISHED}`))).toBe(true);
  expect(await findWatch(ann, watchId)).toMatchObject({ status: "active", once: false });
  expect(await ann.call("signal.unwatch", { watchId })).toEqual({ removed: 1 });
  await source.ask("Three.");
  await watcher.ask("Anything else?");
  expect(await listMessages(ann, watcher.pid)).toHaveLength(2);
});

stages("signal.watch:person", async ({ model, somebody }) => {
  const person = await somebody();
  const init = `init:${person.session.identity.process.uid}`;
  model.otherwise(says("Fine."));
  const { pid } = await person.call("proc.spawn", { profile: "task" });
  const watchId = await watchFor(person, { once: false });
  expect(await findWatch(person, watchId)).toMatchObject({ pid: init, processId: null });
  await person.call("proc.send", { pid, message: "Work." });
  const [message] = await waitForMessages(person, init, 1);
  expect(message).toContain(`Process ${pid} has emitted`);
  // Its own signals are none of others: the end of the run that this has caused is not told.
  await expect.poll(async () => (await person.call("proc.history", { pid: init })).messages.at(-1)).toMatchObject({ role: "assistant" });
  await person.call("proc.send", { pid, message: "Again." });
  await waitForMessages(person, init, 2);
  expect((await listMessages(person, init)).every((one) => one.includes(`Process ${pid} has emitted`))).toBe(true);
});

stages("signal.watch:foreign", async ({ spawn, model, ann, root, somebody, world }) => {
  const source = await spawn();
  model.otherwise(says("Fine."));
  const [other, person] = [await world.bob(), await somebody()];
  for (const client of [other, root])
    for (const field of ["processId", "pid"] as const) {
      const absent = await refusal(watchFor(client, { [field]: ABSENT }));
      expect(absent).toMatchObject({ code: 404, message: `Unknown process: ${ABSENT}` });
      const foreign = await refusal(watchFor(client, { [field]: source.pid }));
      expect({ ...foreign, message: foreign.message.replace(source.pid, ABSENT) }).toEqual(absent);
    }
  const init = `init:${person.session.identity.process.uid}`;
  const watchId = await watchFor(person, { once: false });
  await source.ask("Work.");
  // What a signal of one's own causes comes after it.
  const { pid } = await person.call("proc.spawn", { profile: "task", prompt: "Work." });
  const [message] = await waitForMessages(person, init, 1);
  expect(message).toContain(pid);
  expect(await findWatch(ann, watchId)).toBeUndefined();
});

stages("signal.watch:failed", async ({ spawn, model, ann }) => {
  const [watcher, source] = [await spawn(), await spawn()];
  model.otherwise(says("Fine."));
  const { watchId } = await ann.call("signal.watch", { signal: FINISHED, pid: watcher.pid, processId: source.pid });
  await watcher.ask("Hello.");
  await ann.call("proc.conversation.close", { pid: watcher.pid, conversationId: "default" });
  await source.ask("Work.");
  await expect.poll(() => findWatch(ann, watchId)).toMatchObject({ status: "failed", error: expect.stringMatching(/closed/) });
  const { notifications } = await ann.call("notification.list", {});
  expect(notifications.filter(({ source: from }) => from.kind === "kernel" && from.processId === watcher.pid)).toMatchObject([
    { title: `A watch for ${FINISHED} has failed`, level: "warning", source: { topic: "watches" } },
  ]);
  // It is not tried again, even where it would succeed.
  await ann.call("proc.conversation.open", { pid: watcher.pid, conversationId: "default" });
  await source.ask("Work.");
  await watcher.ask("Anything else?");
  expect(await listMessages(ann, watcher.pid)).toEqual([]);
  expect(await ann.call("signal.unwatch", { watchId })).toEqual({ removed: 1 });
});

stages("signal.watch:circle", async ({ model, somebody }) => {
  const person = await somebody();
  model.otherwise(says("Your turn."));
  const [one, other] = [await person.call("proc.spawn", { profile: "task" }), await person.call("proc.spawn", { profile: "task" })];
  for (const [pid, processId] of [
    [one.pid, other.pid],
    [other.pid, one.pid],
  ])
    await watchFor(person, { pid: pid!, processId: processId!, once: false });
  await person.call("proc.send", { pid: one.pid, message: "Begin." });
  const failed = async () => (await person.call("signal.list", {})).watches.filter(({ status }) => status === "failed");
  await expect.poll(failed).toMatchObject([{ error: expect.stringMatching(/watch each other/) }]);
  expect((await listMessages(person, one.pid)).length + (await listMessages(person, other.pid)).length).toBe(8);
  expect((await person.call("notification.list", {})).notifications).toMatchObject([{ source: { kind: "kernel", topic: "watches" } }]);
});

verifies(
  "signal.watch:expired",
  async ({ bob }) => {
    const client = await bob();
    const [{ pid }, { pid: processId }] = [
      await client.call("proc.spawn", { profile: "task" }),
      await client.call("proc.spawn", { profile: "task" }),
    ];
    const args = { signal: FINISHED, pid, processId, key: "brief" };
    const { watchId } = await client.call("signal.watch", { ...args, ttlMs: 1_000 });
    expect(await findWatch(client, watchId)).toMatchObject({ status: "active" });
    while ((await findWatch(client, watchId)) !== undefined) await sleep(100, new AbortController().signal);
    const again = await client.call("signal.watch", args);
    expect(again.created).toBe(true);
    expect(again.watchId).not.toBe(watchId);
    await client.call("signal.unwatch", { watchId: again.watchId });
    const { runId } = await client.call("proc.send", { pid: processId, message: "Work." });
    for (;;) {
      const { events } = await client.call("proc.subscribe", { pid: processId, after: 0 });
      if (events.some(({ signal, payload }) => signal === FINISHED && payload.runId === runId)) break;
      await sleep(100, new AbortController().signal);
    }
    expect(await listMessages(client, pid)).toEqual([]);
  },
  { waits: true },
);

stages("signal.unwatch:removes", async ({ spawn, ann, root, world }) => {
  const [watcher, other, source] = [await spawn(), await spawn(), await spawn()];
  const args = { processId: source.pid, key: "shared" };
  const [first] = [await watchFor(ann, { ...args, pid: watcher.pid }), await watchFor(ann, { ...args, pid: other.pid })];
  const refused = (by: object) => expectRefusal(ann.call("signal.unwatch", by), 400, "signal.unwatch requires either watchId or key");
  await refused({});
  await refused({ watchId: first, key: "shared" });
  for (const client of [await world.bob(), root]) {
    for (const watchId of [first, ABSENT]) expect(await client.call("signal.unwatch", { watchId })).toEqual({ removed: 0 });
    for (const key of ["shared", "none"]) expect(await client.call("signal.unwatch", { key })).toEqual({ removed: 0 });
  }
  const third = await watchFor(ann, { processId: source.pid, pid: watcher.pid });
  expect(await ann.call("signal.unwatch", { watchId: third })).toEqual({ removed: 1 });
  expect(await ann.call("signal.unwatch", { watchId: third })).toEqual({ removed: 0 });
  expect(await ann.call("signal.unwatch", { key: "shared" })).toEqual({ removed: 2 });
  expect(await findWatch(ann, first)).toBeUndefined();
});

stages("signal.list:own", async ({ spawn, model, ann, world }) => {
  const [agent, source] = [await spawn(), await spawn()];
  // Of something that does not happen here.
  const signal = "proc.run.retrying";
  const [mine, others] = [
    await watchFor(ann, { signal, pid: agent.pid, processId: source.pid }),
    await watchFor(ann, { signal, pid: source.pid, processId: agent.pid }),
  ];
  const all = (await ann.call("signal.list", {})).watches;
  expect(all.map(({ watchId }) => watchId)).toEqual(expect.arrayContaining([mine, others]));
  const times = all.map(({ createdAt }) => createdAt);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const { output } = await runCommand(agent, model, "signal list --json");
  expect(output).toContain(mine);
  expect(output).not.toContain(others);
  // Nor can it remove what it does not see.
  expect(await runCommand(agent, model, `signal unwatch ${others}`)).toMatchObject({ isError: true });
  const foreign = (await (await world.bob()).call("signal.list", {})).watches.map(({ watchId }) => watchId);
  expect(foreign).not.toEqual(expect.arrayContaining([mine]));
  for (const watchId of [mine, others]) expect(await ann.call("signal.unwatch", { watchId })).toEqual({ removed: 1 });
});

stages("signal.list:pages", async ({ somebody }) => {
  const person = await somebody();
  const { pid: processId } = await person.call("proc.spawn", { profile: "task" });
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) ids.push(await watchFor(person, { signal: "proc.run.retrying", processId, state: at }));
  const listIds = async (args: Arguments<"signal.list">) => {
    const { watches, count } = await person.call("signal.list", args);
    expect(count).toBe(5);
    return watches.map(({ watchId }) => watchId);
  };
  expect(await listIds({})).toEqual(ids);
  expect(await listIds({ limit: 2 })).toEqual(ids.slice(0, 2));
  expect(await listIds({ limit: 2, offset: 3 })).toEqual(ids.slice(3));
  expect(await listIds({ limit: 0 })).toEqual(ids.slice(0, 1));
  expect(await listIds({ offset: 5 })).toEqual([]);
  await expectRefusal(person.call("signal.list", { offset: -1 }), 400, /^offset /);
  await expectRefusal(person.call("signal.list", { limit: "2" as never }), 400, /^limit /);
});
