import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { deferred } from "../../lib/deferred.ts";
import { INTERRUPTED, type ScriptAnswer, type ScriptCall, type ScriptEnd, type ScriptLink, TIMED_OUT } from "../../ports/sandbox.ts";
import { ENGINE_LIMITS } from "../../sandbox/limits.ts";
import { NodeSandboxes, type SandboxLimits } from "./sandboxes.ts";

/** Never polls for an interrupt, so that only the end of its thread ends it. */
const HANG = "new Array(4e9).join('a')";
const OK: ScriptAnswer = { kind: "value", json: "1" };

let all: NodeSandboxes[] = [];
/** Threads that have started and not exited. */
const threads = new Set<Worker>();

const countThread = (worker: Worker) => {
  threads.add(worker);
  worker.once("exit", () => threads.delete(worker));
};

beforeAll(() => void process.on("worker", countThread));
afterAll(() => void process.off("worker", countThread));

afterEach(async () => {
  await Promise.all(all.map((one) => one.close()));
  all = [];
  expect(threads.size).toBe(0);
});

function make(limits: Partial<SandboxLimits> = {}): NodeSandboxes {
  const sandboxes = new NodeSandboxes(limits);
  all.push(sandboxes);
  return sandboxes;
}

type Options = { uid?: number; link?: ScriptLink; signal?: AbortSignal };

function run(sandboxes: NodeSandboxes, code: string, { uid = 1000, link = async () => OK, signal }: Options = {}): Promise<ScriptEnd> {
  const start = { kind: "source", code, globals: { argv: [], args: null } } as const;
  return sandboxes.makeSandbox(() => uid).run(start, link, signal ?? new AbortController().signal);
}

/** A link whose calls wait until they are answered; `calls` resolves once that many have arrived. */
function makeHolding() {
  const held: { call: ScriptCall; answer: (answer: ScriptAnswer) => void }[] = [];
  const link: ScriptLink = (call) => new Promise((answer) => void held.push({ call, answer }));
  return { held, link };
}

test("runs scripts, passes on their calls and reuses the thread", async () => {
  const sandboxes = make();
  const calls: ScriptCall[] = [];
  const link = async (call: ScriptCall) => {
    calls.push(call);
    return OK;
  };
  expect(await run(sandboxes, "globalThis.left = 1; return [await shell('ls')]", { link })).toMatchObject({
    kind: "completed",
    json: "[1]",
  });
  expect(calls).toEqual([{ number: 1, call: "shell.exec", args: '{"input":"ls"}' }]);
  expect(await run(sandboxes, "return typeof left")).toMatchObject({ json: '"undefined"' });
  expect(threads.size).toBe(1);
});

test("a suspended script continues in another thread", async () => {
  const first = await run(make(), "const n = 5; return n + (await shell('x'))", { link: async () => ({ kind: "suspended" }) });
  if (first.kind !== "suspended") throw new Error(JSON.stringify(first));
  const { snapshot, used } = first;
  const answers = [{ number: 1, answer: { kind: "value", json: "2" } }] as const;
  const again = make().makeSandbox(() => 1);
  const end = await again.run({ kind: "snapshot", snapshot, used, answers, suspended: 0 }, async () => OK, new AbortController().signal);
  expect(end).toMatchObject({ kind: "completed", json: "7" });
});

test("a thread that holds on to its script is ended, and its place is free", async () => {
  const sandboxes = make({ perUser: 1, total: 1, graceMs: 50, engine: { ...ENGINE_LIMITS, wallMs: 500 } });
  expect(await run(sandboxes, HANG)).toMatchObject({ kind: "failed", error: TIMED_OUT });
  // On a busy machine its time may be over before its thread has started.
  await expect.poll(() => run(sandboxes, "return 1")).toMatchObject({ json: "1" });
  await expect.poll(() => threads.size).toBe(1);
});

test("an abort ends a script that computes, one that waits, and one whose turn has not come", async () => {
  const sandboxes = make({ perUser: 2, graceMs: 50 });
  const over = new AbortController();
  const { link, held } = makeHolding();
  const busy = run(sandboxes, `fs.read({}); await null; ${HANG}`, { signal: over.signal, link });
  const waiting = run(sandboxes, "await fs.read({})", { signal: over.signal, link });
  const queued = run(sandboxes, "return 1", { signal: over.signal });
  await expect.poll(() => held.length).toBeGreaterThanOrEqual(1);
  over.abort();
  for (const end of await Promise.all([busy, waiting, queued])) expect(end).toMatchObject({ kind: "failed", error: INTERRUPTED });
  expect(await run(sandboxes, "return 2")).toMatchObject({ json: "2" });
  expect(await run(sandboxes, "return 3", { signal: over.signal })).toMatchObject({ error: INTERRUPTED });
});

test("scripts of one user wait for each other, and those of others do not", async () => {
  const sandboxes = make({ perUser: 1, total: 2 });
  const { link, held } = makeHolding();
  const first = run(sandboxes, "return await shell('first')", { link });
  const second = run(sandboxes, "return await shell('second')", { link });
  const other = run(sandboxes, "return await shell('other')", { link, uid: 1001 });
  await expect.poll(() => held.length).toBe(2);
  expect(held.map(({ call }) => call.args).sort()).toEqual(['{"input":"first"}', '{"input":"other"}']);
  for (const { answer } of held) answer(OK);
  await Promise.all([first, other]);
  await expect.poll(() => held.length).toBe(3);
  held[2]!.answer(OK);
  expect(await second).toMatchObject({ json: "1" });
});

test("scripts of all users wait when as many as may run do", async () => {
  const sandboxes = make({ perUser: 1, total: 2 });
  const { link, held } = makeHolding();
  let ended = 0;
  const runs = Array.from({ length: 5 }, (_, at) => run(sandboxes, "return await shell('x')", { link, uid: at }).finally(() => ended++));
  for (let answered = 0; answered < 5; answered++) {
    await expect.poll(() => held.length).toBeGreaterThan(answered);
    expect(held.length).toBeLessThanOrEqual(answered + 2);
    held[answered]!.answer(OK);
    await expect.poll(() => ended).toBe(answered + 1);
  }
  expect((await Promise.all(runs)).every(({ kind }) => kind === "completed")).toBe(true);
  // Two ran, and at most two idle threads are kept.
  await expect.poll(() => threads.size).toBeLessThanOrEqual(2);
});

test("threads beyond the idle ones exit, and so do idle ones after a while", async () => {
  const sandboxes = make({ perUser: 3, idle: 1, idleMs: 10 });
  const { link, held } = makeHolding();
  const runs = [1, 2, 3].map(() => run(sandboxes, "return await shell('x')", { link }));
  await expect.poll(() => held.length).toBe(3);
  expect(threads.size).toBe(3);
  for (const { answer } of held) answer(OK);
  await Promise.all(runs);
  await expect.poll(() => threads.size).toBe(0);
  expect(await run(sandboxes, "return 1")).toMatchObject({ json: "1" });
});

test("a thread that runs out of memory ends only its script", async () => {
  const sandboxes = make({ perUser: 1 });
  const flood = await run(sandboxes, "const all = []; for (let n = 0; n < 4e6; n++) all.push({ n, all }); return all.length");
  expect(flood.kind).toBe("failed");
  expect(await run(sandboxes, "return 1")).toMatchObject({ json: "1" });
});

test("answers of an ended script do not reach the next", async () => {
  const sandboxes = make({ perUser: 1 });
  const late = deferred<ScriptAnswer>();
  expect(await run(sandboxes, "shell('x'); throw new Error('early')", { link: () => late.promise })).toMatchObject({ error: "early" });
  const { link, held } = makeHolding();
  const next = run(sandboxes, "return await shell('y')", { link });
  await expect.poll(() => held.length).toBe(1);
  late.resolve({ kind: "value", json: '"forged"' });
  await late.promise;
  held[0]!.answer({ kind: "value", json: '"right"' });
  expect(await next).toMatchObject({ json: '"right"' });
});

test("closing ends running, waiting and idle scripts and all threads", async () => {
  const sandboxes = make({ perUser: 2 });
  const { link, held } = makeHolding();
  const running = run(sandboxes, `fs.read({}); await fs.read({}); ${HANG}`, { link });
  const other = run(sandboxes, "await fs.read({})", { link });
  const queued = run(sandboxes, "return 1");
  await expect.poll(() => held.length).toBe(3);
  held.find(({ call }) => call.number === 2)!.answer(OK);
  await sandboxes.close();
  for (const end of await Promise.all([running, other, queued])) expect(end).toMatchObject({ kind: "failed", error: INTERRUPTED });
  expect(threads.size).toBe(0);
  expect(await run(sandboxes, "return 1")).toMatchObject({ error: INTERRUPTED });
});
