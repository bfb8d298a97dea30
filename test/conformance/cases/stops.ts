// Stopping a run: what it waits for ends on every target, what was said stays, and queued messages continue or are put on hold.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { plugIn, type TestDevice } from "../../support/devices.ts";
import { says, toldText, wants } from "../../support/models/scripted.ts";
import type { Asked } from "../../support/models/provider.ts";
import type { AnyFrame, RawSocket } from "../../support/raw-socket.ts";
import { type Stage, stages } from "../stage.ts";
import { expectRefusal } from "../verifies.ts";

const ALLOW_ALL = JSON.stringify({ default: "auto", rules: [] });
/** For a task and the init that started it: the stricter policy decides. */
const allow = async (set: Stage["set"]) => {
  for (const profile of ["task", "init"]) await set(`config/ai/profile/${profile}/tools/approval`, ALLOW_ALL);
};
let made = 0;

/** A command that stores its pid and runs until it is ended. */
const sleeping = (file: string) => `echo $$ > ${file}; exec sleep 97`;

async function laptopOf({ world, ann }: Stage, waitMs?: number): Promise<TestDevice> {
  return plugIn(world.host, ann, `stop-${made++}`, waitMs);
}

function pidIn({ workspace }: TestDevice, file: string): number {
  try {
    return Number(readFileSync(join(workspace, file), "utf8"));
  } catch {
    return 0;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function waitForPid(device: TestDevice, file: string): Promise<number> {
  await expect.poll(() => pidIn(device, file)).toBeGreaterThan(0);
  return pidIn(device, file);
}

/** The session that the model was last told about. */
const sessionIn = (asked: Asked) => /sessionId (sh_[-\w]+)/.exec(toldText(asked))?.[1] ?? "";
const runningOn = async (client: Client, target: string) =>
  (await client.call("shell.list", { target })).sessions.filter(({ state }) => state === "running");

stages("proc.abort:device", async (stage) => {
  const { spawn, model, ann, set } = stage;
  await allow(set);
  const device = await laptopOf(stage, 60_000);
  const { deviceId: target } = device;
  const agent = await spawn();
  model.on("Sleep there.", wants(["Shell", { target, input: sleeping("pid") }]));
  const runId = await agent.say("Sleep there.");
  const pid = await waitForPid(device, "pid");
  const stopped = await ann.call("proc.abort", { pid: agent.pid });
  expect(stopped).toEqual({ ok: true, pid: agent.pid, aborted: true, runId, interruptedToolCalls: 1 });
  // The answer arrives after the command has ended.
  expect(isAlive(pid)).toBe(false);
  expect(await runningOn(ann, target)).toEqual([]);
  device.close();
});

stages("proc.abort:polled", async (stage) => {
  const { spawn, model, ann, set } = stage;
  await allow(set);
  const device = await laptopOf(stage, 50);
  const { deviceId: target } = device;
  const agent = await spawn();
  const start = wants(["Shell", { target, input: sleeping("pid") }]);
  const poll = async (asked: Asked) => wants(["Shell", { target, sessionId: sessionIn(asked), input: "" }]);
  model.on("Sleep there.", start, ...Array.from({ length: 200 }, () => poll));
  await agent.say("Sleep there.");
  const pid = await waitForPid(device, "pid");
  await expect.poll(() => model.asked.length).toBeGreaterThan(2);
  expect(await ann.call("proc.abort", { pid: agent.pid })).not.toHaveProperty("stillRunning");
  expect(isAlive(pid)).toBe(false);
  expect((await ann.call("proc.session.list", { pid: agent.pid })).sessions).toEqual([]);
  device.close();
});

stages("proc.abort:gateway", async ({ spawn, model, ann, set }) => {
  await allow(set);
  const agent = await spawn();
  model.on("Sleep here.", wants(["Shell", { target: "gsv", input: "sleep 97" }]));
  const runId = await agent.say("Sleep here.");
  await agent.told("proc.run.tool.started", runId);
  await expect.poll(async () => (await runningOn(ann, "gsv")).length).toBe(1);
  expect(await ann.call("proc.abort", { pid: agent.pid })).not.toHaveProperty("stillRunning");
  expect(await runningOn(ann, "gsv")).toEqual([]);
});

stages("proc.abort:away", async (stage) => {
  const { spawn, model, ann, set, world } = stage;
  await allow(set);
  const target = `stop-${made++}`;
  const { token } = await ann.call("sys.token.create", { kind: "node", allowedDeviceId: target });
  const driver = { implements: ["fs.*", "shell.*"], ledger: true };
  const { username } = ann.session.identity.process;
  const plugged = async () => {
    const socket = await world.raw();
    const client = { id: target, version: "0", platform: "test", role: "driver" };
    await socket.call("sys.connect", { protocol: 1, client, driver, auth: { username, token: token.token } });
    return socket;
  };
  const next = async (socket: RawSocket, is: (frame: AnyFrame) => boolean) => {
    for (;;) {
      const frame = await socket.frame();
      if (is(frame)) return frame;
    }
  };
  const first = await plugged();
  const agent = await spawn();
  model.on("Sleep there.", wants(["Shell", { target, input: "sleep 97" }]));
  await agent.say("Sleep there.");
  const { key } = (await next(first, ({ type }) => type === "req")) as AnyFrame & { key?: unknown };
  first.close();
  const isOnline = async () => (await ann.call("sys.device.list", {})).devices.some(({ deviceId }) => deviceId === target);
  await expect.poll(isOnline).toBe(false);
  const { stillRunning } = await ann.call("proc.abort", { pid: agent.pid });
  expect(stillRunning).toMatchObject([{ target, command: "sleep 97", why: expect.stringMatching(/not known/) as unknown }]);
  const second = await plugged();
  expect(await next(second, ({ signal }) => signal === "req.cancel")).toMatchObject({ payload: { key } });
  second.close();
});

stages("proc.abort:partial", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const script = says("Once upon a time there was a story that nobody had the time to hear.");
  model.on("Tell.", { hang: true, script, after: 700 }).on(/And\?$/, says("The end."));
  const runId = await agent.say("Tell.");
  await expect.poll(() => agent.pieces.some(({ event }) => event.type === "text_delta")).toBe(true);
  await ann.call("proc.abort", { pid: agent.pid });
  await agent.finished(runId);
  const { messages } = await agent.history();
  expect(messages[1]).toMatchObject({ role: "assistant", runId, content: { stopped: true, text: expect.stringMatching(/^Once upon/) } });
  await agent.ask("And?");
  expect(toldText(model.asked.at(-1)!)).toMatch(/Once upon.*stopped this answer/);
});

stages("proc.queue.resume:held", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  model
    .on(/Hang\.$/, { hang: true })
    .on(/Two$/, says("Second."))
    .on(/Three$/, says("Third."));
  await agent.say("Hang.");
  await expect.poll(() => model.asked.length).toBe(1);
  const second = await agent.say("Two");
  expect(await ann.call("proc.abort", { pid, pauseQueue: true })).toMatchObject({ aborted: true, pausedCount: 1 });
  expect(await agent.ask("Three")).toMatchObject({ status: "ok", text: "Third." });
  expect((await ann.call("proc.queue.list", { pid })).messages).toMatchObject([{ runId: second, paused: true }]);
  const { processes } = await ann.call("proc.list", {});
  expect(processes.find((one) => one.pid === pid)).toMatchObject({ state: "idle", queuedCount: 1 });
  expect(await ann.call("proc.queue.resume", { pid })).toEqual({ ok: true, pid, resumed: 1 });
  expect(await agent.finished(second)).toMatchObject({ status: "ok", text: "Second." });
});

stages("proc.session.list:left", async (stage) => {
  const { spawn, model, ann, world, set } = stage;
  await allow(set);
  const device = await laptopOf(stage, 50);
  const { deviceId: target } = device;
  const agent = await spawn();
  const { pid } = agent;
  const leavesRunning = (file: string) => [wants(["Shell", { target, input: sleeping(file) }]), says("It runs.")];
  model.on("Serve.", ...leavesRunning("one")).on(/Serve again\.$/, ...leavesRunning("two"));
  model.on(/Hang\.$/, { hang: true });
  await agent.ask("Serve.");
  const one = await waitForPid(device, "one");
  const { sessions } = await ann.call("proc.session.list", { pid });
  expect(sessions).toMatchObject([{ target, command: sleeping("one"), conversationId: "default", state: "running" }]);
  await expectRefusal((await world.bob()).call("proc.session.list", { pid }), 404);
  // Stopping a later run does not end it; killing the process does.
  const before = model.asked.length;
  await agent.say("Hang.");
  await expect.poll(() => model.asked.length).toBe(before + 1);
  await ann.call("proc.abort", { pid });
  expect(isAlive(one)).toBe(true);
  const { sessionId } = sessions[0]!;
  await ann.call("shell.exec", { target, sessionId, input: "", signal: "KILL" });
  await expect.poll(() => isAlive(one)).toBe(false);
  await expect.poll(async () => (await ann.call("proc.session.list", { pid })).sessions).toEqual([]);
  await agent.ask("Serve again.");
  const two = await waitForPid(device, "two");
  expect(await ann.call("proc.kill", { pid })).not.toHaveProperty("stillRunning");
  expect(isAlive(two)).toBe(false);
  device.close();
});

stages("proc.send:tool-started", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const path = `asked-${made++}.txt`;
  await ann.call("fs.write", { path, content: "x" });
  model.on("Delete it.", wants(["Delete", { target: "gsv", path }]), says("Gone."));
  model.on("Delete more.", wants(["Delete", { target: "gsv", path: `${path}.more` }]), says("Not gone."));
  const runId = await agent.say("Delete it.");
  const { requestId } = await agent.asked();
  expect(agent.of("proc.run.tool.started", runId)).toEqual([]);
  await agent.answer(requestId, "approve");
  await agent.finished(runId);
  expect(agent.of("proc.run.tool.started", runId)).toHaveLength(1);
  const [finished] = agent.of("proc.run.tool.finished", runId);
  const [begun] = agent.of("proc.run.tool.started", runId);
  const question = agent.of("proc.run.hil.requested", runId)[0]!;
  expect(Number(begun!.timestamp)).toBeGreaterThanOrEqual(Number(question.createdAt));
  // Both were reported with a small delay.
  expect(Math.abs(Number(finished!.durationMs) - (Number(finished!.timestamp) - Number(begun!.timestamp)))).toBeLessThan(1_000);
  expect(await agent.result()).toMatchObject({ isError: false, durationMs: finished!.durationMs });
  const denied = await agent.say("Delete more.");
  await agent.answer((await agent.asked(2)).requestId, "deny");
  await agent.finished(denied);
  expect(agent.of("proc.run.tool.started", denied)).toEqual([]);
  expect(agent.of("proc.run.tool.finished", denied)).toMatchObject([{ ok: false, outcome: "denied" }]);
  expect(await agent.result()).toMatchObject({ isError: true, outcome: "denied" });
});
