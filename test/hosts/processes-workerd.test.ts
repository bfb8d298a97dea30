// Agent processes inside workerd: separate objects that call models themselves and the kernel's object for everything else, even
// while that restarts.

import { Log, LogLevel, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ProcessOutput } from "../../src/hosts/cloudflare/process-requests.ts";
import type { SysCall } from "../../src/process/kernel-port.ts";
import type { ProcessResult } from "../../src/process/actor.ts";
import { ScriptedProvider } from "../support/models/provider.ts";
import { bundleWorker } from "../support/worker-bundle.ts";

const WORKER = "processes";

/** How often an object was constructed, how often its alarm fired, and when the next one is due. */
type Counts = { built: number; alarms: number; alarmAt: number | null };
type State = ProcessResult<"state">;
type Seen = { told: ProcessOutput[]; sent: (SysCall & { isAborted?: true })[] };

let provider: ScriptedProvider;
let miniflare: Miniflare;
let runs = 0;

beforeAll(async () => {
  provider = await ScriptedProvider.start();
  miniflare = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    telemetry: { enabled: false },
    // Deliberate restarts would fill the log.
    log: new Log(LogLevel.NONE),
    handleStructuredLogs: () => {},
    workers: [
      {
        config: {
          name: WORKER,
          compatibilityDate: "2026-10-01",
          compatibilityFlags: ["nodejs_compat"],
          manifest: await bundleWorker("test/support/process-worker.ts"),
          env: {
            KERNEL: { type: "durable-object", worker: WORKER, exportName: "KernelObject" },
            PROCESSES: { type: "durable-object", worker: WORKER, exportName: "ProcessObject" },
            CHOICE: { type: "text", value: JSON.stringify(provider.choice("chat")) },
          },
          exports: {
            KernelObject: { type: "durable-object", storage: "sqlite" },
            ProcessObject: { type: "durable-object", storage: "sqlite" },
          },
        },
      },
    ],
  });
});

afterAll(async () => {
  await miniflare.dispose();
  await provider.close();
});

async function kernel(request: object): Promise<unknown> {
  const response = await fetch((await miniflare.ready).origin, { method: "POST", body: JSON.stringify(request) });
  return response.json();
}

async function send(pid: string, text: string): Promise<string> {
  const runId = `r${++runs}`;
  const args = { message: { role: "user", text }, reason: "proc.send", runId };
  expect(await kernel({ ask: "call", pid, name: "send", args })).toMatchObject({ ok: true, value: { status: "started", runId } });
  return runId;
}

/** The signals and pieces of a run that the kernel received, once the run has ended. */
async function eventsOf(runId: string): Promise<string[]> {
  const seen = async () => ((await kernel({ ask: "seen" })) as Seen).told.filter((one) => payloadOf(one).runId === runId);
  await expect.poll(async () => (await seen()).some((one) => "event" in one && one.event.signal === "proc.run.finished")).toBe(true);
  return (await seen()).map((one) => ("event" in one ? one.event.signal : `piece ${String(one.piece.seq)}`));
}

async function textOf(runId: string): Promise<unknown> {
  await eventsOf(runId);
  const seen = (await kernel({ ask: "seen" })) as Seen;
  return seen.told.map(payloadOf).find((payload) => payload.runId === runId && payload.status !== undefined)?.text;
}

function payloadOf(one: ProcessOutput): Record<string, unknown> {
  return "event" in one ? one.event.payload : one.piece;
}

const counts = async (pid: string) => (await kernel({ ask: "counts", pid })) as Counts;
const calls = async () => ((await kernel({ ask: "seen" })) as Seen).sent;
const read = (path: string) => ({
  say: [{ type: "call" as const, id: null, name: "Read", args: JSON.stringify({ target: "gsv", path }) }],
});
const answer = (text: string) => ({ say: [{ type: "text" as const, text }] });

it("answers, and delivers events and pieces in order", async () => {
  provider.on("count", answer("one two three"));
  const runId = await send("init:1", "count");
  expect(await textOf(runId)).toBe("one two three");
  const order = await eventsOf(runId);
  const pieces = order.filter((one) => one.startsWith("piece"));
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces).toEqual(pieces.map((_, at) => `piece ${at + 1}`));
  const [first, last] = [order.indexOf(pieces[0]!), order.indexOf(pieces.at(-1)!)];
  expect(order.slice(0, first)).toContain("proc.run.started");
  expect(order.slice(last)).toEqual(expect.arrayContaining(["proc.run.output", "proc.run.finished"]));
  expect(last - first).toBe(pieces.length - 1);
});

it("refusals keep their kind and code", async () => {
  expect(await kernel({ ask: "call", pid: "init:1", name: "nothing", args: {} })).toMatchObject({
    ok: false,
    failure: { kind: "sys", code: 404 },
  });
});

it("runs its calls in the kernel, and aborts them there", async () => {
  provider.on("read it", read("/a"), answer("read"));
  expect(await textOf(await send("init:1", "read it"))).toBe("read");
  provider.on("read what is slow", read("/slow"));
  const slow = await send("init:1", "read what is slow");
  await expect.poll(async () => (await calls()).at(-1)).toMatchObject({ runId: slow, args: { path: "/slow" } });
  expect(await kernel({ ask: "call", pid: "init:1", name: "abort", args: { runId: slow } })).toMatchObject({ value: { aborted: true } });
  await expect.poll(async () => (await calls()).at(-1)).toMatchObject({ runId: slow, isAborted: true });
  expect((await calls()).filter(({ runId }) => runId === slow)).toHaveLength(2);
});

it("retries a call after the kernel's object restarted, marked as a repeat", async () => {
  provider.on("read over a restart", read("/restart"), answer("all the same"));
  const runId = await send("init:2", "read over a restart");
  expect(await textOf(runId)).toBe("all the same");
  expect((await calls()).filter((call) => call.runId === runId).map(({ isRepeat }) => isRepeat)).toEqual([false, true]);
});

it("delivers events that happened while the kernel's object was gone", async () => {
  let restarted: Promise<unknown> = Promise.resolve();
  provider.on("answer after a restart", async () => {
    restarted = kernel({ ask: "restart" }).catch(() => null);
    await restarted;
    return answer("meanwhile");
  });
  const runId = await send("init:3", "answer after a restart");
  expect(await textOf(runId)).toBe("meanwhile");
  await restarted;
  const seqs = ((await kernel({ ask: "seen" })) as Seen).told.flatMap((one) =>
    "event" in one && one.event.payload.pid === "init:3" ? one.event.seq : [],
  );
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
});

it("reaches the hosts root has listed when a run starts, and no others", async () => {
  await kernel({ ask: "allow", name: "elsewhere.example" });
  const before = provider.asked.length;
  const refused = await send("init:4", "hi");
  await eventsOf(refused);
  expect(provider.asked).toHaveLength(before);
  await kernel({ ask: "allow", name: "127.0.0.1" });
  provider.on(/hi again$/, answer("allowed"));
  expect(await textOf(await send("init:4", "hi again"))).toBe("allowed");
});

it("sleeps without an alarm after its run, and after a read", async () => {
  const pid = "init:6";
  provider.on("work and rest", answer("rested"));
  expect(await textOf(await send(pid, "work and rest"))).toBe("rested");
  await expect.poll(async () => (await counts(pid)).alarmAt).toBe(null);
  const before = await counts(pid);
  expect(before.alarms).toBe(0);

  await miniflare.unsafeEvictDurableObject(WORKER, "ProcessObject", { name: pid });
  const requests = (await kernel({ ask: "asked", pid })) as number;
  expect(await kernel({ ask: "call", pid, name: "history", args: {} })).toMatchObject({ ok: true });
  // It asks the kernel for the last event received, delivers nothing, and is done.
  await expect.poll(() => kernel({ ask: "asked", pid })).toBe(requests + 1);
  await kernel({ ask: "call", pid, name: "wake", args: {} });
  expect(await counts(pid)).toEqual({ built: before.built + 1, alarms: 0, alarmAt: null });

  // An alarm set before the restart is also the last one.
  await kernel({ ask: "alarm", pid });
  await expect.poll(async () => (await counts(pid)).alarms).toBe(1);
  await kernel({ ask: "call", pid, name: "wake", args: {} });
  expect(await counts(pid)).toEqual({ built: before.built + 1, alarms: 1, alarmAt: null });
});

it("retries by alarm if the kernel refuses events, and delivers them at the next contact", async () => {
  const pid = "init:7";
  provider.on("not heard", answer("heard in the end"));
  await kernel({ ask: "refuse", name: pid });
  const runId = await send(pid, "not heard");
  const state = async () => ((await kernel({ ask: "call", pid, name: "state", args: {} })) as { value: State }).value;
  await expect.poll(async () => (await state()).activeRunId).toBe(null);
  await expect.poll(async () => (await state()).undelivered).toMatchObject({ error: expect.any(String), nextTryAt: expect.any(Number) });
  expect((await counts(pid)).alarmAt).toBeGreaterThan(Date.now());
  await kernel({ ask: "refuse", name: "" });
  await kernel({ ask: "call", pid, name: "wake", args: {} });
  expect(await textOf(runId)).toBe("heard in the end");
  await expect.poll(state).toMatchObject({ undelivered: null });
  await expect.poll(async () => (await counts(pid)).alarmAt).toBe(null);
});

it("is woken by its alarm after it lost its memory, and continues", async () => {
  provider.on("live twice", { tries: [{ hang: true }, answer("in a new life")] });
  const before = provider.asked.length;
  const runId = await send("init:5", "live twice");
  await expect.poll(() => provider.asked.length).toBe(before + 1);
  const wokenIn = await kernel({ ask: "die", pid: "init:5" });
  expect(wokenIn).toBeGreaterThan(0);
  expect(wokenIn).toBeLessThan(60_000);
  expect(await textOf(runId)).toBe("in a new life");
});
