// An idle gateway: its processes are never woken, the kernel only when something is due, and undelivered events are found.

import { beforeEach, expect, it } from "vitest";
import { policyKey } from "../../src/kernel/agents/policies.ts";
import { StorageError } from "../../src/ports/sql.ts";
import type { Check } from "../../src/protocol/check.ts";
import { STOPPED } from "../../src/process/kernel-port.ts";
import { MemoryProcesses } from "../support/memory-ports.ts";
import { ScriptedModels } from "../support/scripted-models.ts";
import { connectArgs, Desk } from "./desk.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const INIT = "init:1000";

let desk: Desk;
let processes: MemoryProcesses;
let processWakes: number;
let isFailing: boolean;
let log: string[];

beforeEach(async () => {
  processWakes = 0;
  isFailing = false;
  log = [];
  let ids = 0;
  desk = await Desk.populated((world) => {
    const now = () => Math.floor(world.agenda.now);
    processes = new MemoryProcesses({
      models: new ScriptedModels(),
      kernel: () => ({
        kernelPortFor: (pid) => makePort(world, pid),
        archiveRootOf: (pid) => world.kernel.archiveRootOf(pid),
        ownerUidOf: (pid) => world.kernel.ownerOf(pid),
      }),
      uuid: () => `id-${++ids}`,
      now,
      heartbeatMs: 30_000,
      wakeAt: (ms, woke) => {
        const wake = () => {
          if (woke() !== false) processWakes++;
        };
        world.agenda.at(Math.max(ms, world.agenda.now + 1), "wake of a process", wake);
      },
      log: (message) => log.push(message),
    });
    return processes;
  });
});

function makePort(world: Desk, pid: string) {
  const link = world.kernel.kernelPortFor(pid);
  return {
    ...link,
    emit: (events: Parameters<typeof link.emit>[0]) => {
      if (isFailing) throw new StorageError(true, null);
      return link.emit(events);
    },
  };
}

async function say(alice: string, message: string): Promise<void> {
  expect(await desk.call(alice, "proc.send", { message })).toMatchObject({ ok: true });
  await desk.quiet();
}

async function texts(alice: string): Promise<string> {
  return JSON.stringify((await desk.call(alice, "proc.history")).data);
}

it("an idle day wakes no process, and the kernel once, for the sweep after the last activity", async () => {
  const alice = await desk.enter("alice", { password: "alice first" });
  await say(alice, "hello");
  expect(await texts(alice)).toContain("heard hello");
  processes.forget(INIT);
  expect(await texts(alice)).toContain("heard hello");
  expect(processes.isIdle).toBe(true);
  // Until the handshake deadline of every connection has passed.
  await desk.pass(HOUR_MS / 2);
  processWakes = desk.wakes = 0;
  await desk.pass(DAY_MS);
  expect([processWakes, desk.wakes]).toEqual([0, 1]);
});

it("wakes the kernel in later weeks only while something is left that expires", async () => {
  await desk.enter("alice", { password: "alice first" });
  await desk.pass(60 * DAY_MS);
  desk.wakes = 0;
  desk.sql.commit();
  await desk.pass(60 * DAY_MS);
  expect(desk.wakes).toBe(0);
  expect(desk.sql.get("SELECT 1 FROM timers")).toBeUndefined();
  // A new connection schedules the next sweep.
  await desk.enter("alice", { password: "alice first" });
  expect(desk.sql.get("SELECT due_at FROM timers")?.due_at).toBeGreaterThan(desk.agenda.now);
});

it("finds the events that a process gave up delivering, and has them delivered", async () => {
  const alice = await desk.enter("alice", { password: "alice first" });
  isFailing = true;
  await say(alice, "hello");
  await desk.pass(7 * DAY_MS);
  expect(processWakes).toBeLessThan(20);
  const woken = processWakes;
  await desk.pass(DAY_MS);
  expect(processWakes).toBe(woken);
  expect(log.at(-1)).toContain("gave up");
  isFailing = false;
  const again = await desk.enter("alice", { password: "alice first" });
  const doctor = async () => ((await desk.call(again, "sys.doctor")).data!.checks as Check[]).find(({ id }) => id === "processes")!;
  expect(await doctor()).toMatchObject({
    state: "warn",
    says: expect.stringMatching(/^init:1000 could not report \d+ events to the gateway/),
  });
  expect(await doctor()).toMatchObject({ state: "ok" });
});

it("tells a device to cancel a call that the kernel sent before it lost its memory, once the call is stopped", async () => {
  const root = await desk.enter("root", { password: "root first" });
  const policy = JSON.stringify({ default: "auto", rules: [] });
  expect(await desk.call(root, "sys.config.set", { key: policyKey("init"), value: policy })).toMatchObject({ ok: true });
  const alice = await desk.enter("alice", { password: "alice first" });
  const { token } = (await desk.call(alice, "sys.token.create", { kind: "node", label: "laptop" })).data as { token: { token: string } };
  const laptop = desk.open();
  const asDriver = connectArgs("alice", { token: token.token }, { id: "laptop", role: "driver" });
  const entered = await desk.call(laptop, "sys.connect", { ...asDriver, driver: { implements: ["fs.*"], ledger: true } });
  expect(entered).toMatchObject({ ok: true });
  const args = { target: "laptop", path: "/tmp/a", content: "a" };
  const call = { runId: "r1", conversationId: "default", callId: "c1", tool: "Write", syscall: "fs.write", args };
  void desk.kernel.kernelPortFor(INIT).runSyscall({ ...call, isRepeat: false }, new AbortController().signal, () => {});
  await desk.quiet();
  const sent = (desk.heard.get(laptop) as unknown as { call?: string; signal?: string; key?: string; payload?: { key: string } }[]) ?? [];
  const { key } = sent.find((frame) => frame.call === "fs.write")!;
  expect(key).toBeTypeOf("string");
  desk.hibernate();
  const outcome = desk.kernel.kernelPortFor(INIT).runSyscall({ ...call, isRepeat: true }, AbortSignal.abort(STOPPED), () => {});
  await desk.quiet();
  expect(await outcome).toMatchObject({ kind: "done", isError: true });
  expect(sent.find((frame) => frame.signal === "req.cancel")?.payload).toEqual({ key });
});
