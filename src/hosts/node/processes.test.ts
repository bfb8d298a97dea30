// Processes on Node: sleep and wakes, files and memory, lost batches, and reopened processes that continue where they stopped.

import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryLog } from "../../../test/support/memory-ports.ts";
import { ScriptedKernel } from "../../../test/support/scripted-kernel.ts";
import { lastText, ScriptedModels } from "../../../test/support/scripted-models.ts";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { deferred } from "../../lib/deferred.ts";
import { StorageError } from "../../ports/sql.ts";
import { Journal } from "./journal/journal.ts";
import { NodeProcesses, type ProcessesOptions } from "./processes.ts";
import { NodeSandboxes } from "./sandboxes.ts";

const A = "init:1000";
let folder: string;
let models: ScriptedModels;
let kernel: ScriptedKernel;
let processes: NodeProcesses;
let journal: Journal;
let failures: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-processes-"));
  models = new ScriptedModels();
  kernel = new ScriptedKernel();
  failures = [];
  journal = new Journal(folder, (error) => failures.push(String(error)));
  processes = open();
});

afterEach(async () => {
  models.holds?.resolve();
  await processes.close();
  await journal.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(more: Partial<ProcessesOptions> = {}): NodeProcesses {
  const opened = new NodeProcesses({
    root: folder,
    journal,
    models,
    sandboxes: new NodeSandboxes(),
    uuid: () => crypto.randomUUID(),
    log: memoryLog((line) => failures.push(line)),
    onFatalError: (error) => failures.push(String(error)),
    ...more,
  });
  opened.start(kernel);
  return opened;
}

async function reopen(more: Partial<ProcessesOptions> = {}): Promise<void> {
  await processes.close();
  processes = open(more);
}

function send(pid: string, text: string, runId: string): Promise<unknown> {
  return processes.call(pid, "send", { message: { role: "user", text }, reason: "proc.send", runId });
}

function historyOf(pid: string): Promise<unknown> {
  return processes.call(pid, "history", {}).then((page) => JSON.stringify(page));
}

const ends = (pid: string) => expect.poll(() => kernel.ends(pid), { interval: 5 });

test("sleeps when idle, and continues with the same rows at the next call", async () => {
  await reopen({ idleMs: 40 });
  await send(A, "hello", "r1");
  await ends(A).toEqual([["r1", "heard hello"]]);
  await expect.poll(() => processes.size).toBe(0);
  await send(A, "again", "r2");
  await ends(A).toEqual([
    ["r1", "heard hello"],
    ["r2", "heard again"],
  ]);
  expect(lastText(models.requests.at(-1)!)).toBe("again");
  expect(models.requests.at(-1)!.messages).toHaveLength(3);
  expect(failures).toEqual([]);
});

test("does not sleep while a model answers, a tool runs, or a caller waits", async () => {
  await reopen({ idleMs: 20 });
  models.holds = deferred();
  await send(A, "think", "r1");
  await expect.poll(() => models.requests.length).toBe(1);
  // Another process, opened later and idle, is closed first.
  await processes.call("init:1001", "state", {});
  expect(processes.size).toBe(2);
  await expect.poll(() => processes.size).toBe(1);
  expect(models.aborted).toBe(0);
  models.holds.resolve();
  await ends(A).toEqual([["r1", "heard think"]]);
  expect(models.requests).toHaveLength(1);
  await expect.poll(() => processes.size).toBe(0);
});

test("keeps few open, and closes the least recently used first, but none that is busy", async () => {
  await reopen({ openMax: 3 });
  models.holds = deferred();
  await send("init:1", "work", "r1");
  await expect.poll(() => models.requests.length).toBe(1);
  for (const uid of [2, 3, 4, 5, 6]) {
    await processes.call(`init:${uid}`, "state", {});
    expect(processes.size).toBeLessThanOrEqual(3);
  }
  models.holds.resolve();
  await ends("init:1").toEqual([["r1", "heard work"]]);
  // Had it been closed in between, it would have called the model again.
  expect([models.requests.length, models.aborted]).toEqual([1, 0]);
});

test("runs two processes concurrently", async () => {
  const other = crypto.randomUUID();
  models.holds = deferred();
  await Promise.all([send(A, "one", "r1"), send(other, "two", "r2")]);
  await expect.poll(() => models.requests.length).toBe(2);
  models.holds.resolve();
  await ends(A).toEqual([["r1", "heard one"]]);
  await ends(other).toEqual([["r2", "heard two"]]);
  expect(readdirSync(join(folder, "processes")).filter((name) => name.endsWith(".db"))).toEqual(
    expect.arrayContaining(["init-1000.db", `${other}.db`]),
  );
});

test("creates no file for an invalid pid", async () => {
  for (const pid of ["", "..", "../kernel", "init:", "init:x", "init:1/..", crypto.randomUUID().toUpperCase(), "a\0b"])
    await expect(processes.call(pid, "state", {})).rejects.toMatchObject({ code: 404 });
  expect(readdirSync(join(folder, "processes"))).toEqual([]);
});

test("delivers numbered events and the pieces of an answer between them, in order", async () => {
  models.answer = () => [{ type: "text", text: "one two three four" }];
  for (const runId of ["r1", "r2", "r3"]) await send(A, "count", runId);
  await expect.poll(() => kernel.ends(A).length).toBe(3);
  const seqs = kernel.events(A).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  const order = kernel.of(A).map((item) => ("event" in item ? item.event.signal : "piece"));
  const first = order.indexOf("piece");
  expect(order.slice(0, first)).toContain("proc.run.started");
  expect(order.slice(0, first)).not.toContain("proc.run.output");
  const pieces = kernel.of(A).flatMap((item) => ("piece" in item && item.piece.runId === "r1" ? Number(item.piece.seq) : []));
  expect(pieces).toEqual(pieces.map((_, at) => pieces[0]! + at));
  expect(order.indexOf("proc.run.output")).toBeGreaterThan(order.indexOf("piece") + pieces.length - 1);
});

test("after a close in the middle of a model's answer, the reopened process calls the model again", async () => {
  models.holds = deferred();
  await send(A, "think", "r1");
  await expect.poll(() => models.requests.length).toBe(1);
  await processes.close();
  expect(kernel.ends(A)).toEqual([]);
  const count = kernel.of(A).length;
  await expect(processes.call(A, "state", {})).rejects.toMatchObject({ code: 503 });
  models.holds = null;
  processes = open();
  await processes.call(A, "wake", {});
  await ends(A).toEqual([["r1", "heard think"]]);
  expect([models.requests.length, models.aborted]).toEqual([2, 1]);
  // The closed process delivered nothing more.
  const after = kernel.of(A).slice(count);
  expect(after.find((one) => "piece" in one)).toMatchObject({ piece: { modelCall: 1, seq: 1 } });
  expect(JSON.stringify(kernel.of(A))).not.toContain("aborted");
});

test("after a reopen, delivers the events the kernel has missed before any new ones", async () => {
  await send(A, "hello", "r1");
  await ends(A).toEqual([["r1", "heard hello"]]);
  await processes.close();
  const all = kernel.events(A).length;
  kernel.of(A).splice(2);
  processes = open();
  await send(A, "again", "r2");
  await ends(A).toEqual([
    ["r1", "heard hello"],
    ["r2", "heard again"],
  ]);
  const seqs = kernel.events(A).map(({ seq }) => seq);
  expect(seqs.length).toBeGreaterThan(all);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
});

test("keeps events while the kernel cannot take them, and delivers them in order later", async () => {
  kernel.isFull = true;
  await send(A, "hello", "r1");
  await expect.poll(() => historyOf(A)).toContain("heard hello");
  expect(kernel.of(A)).toEqual([]);
  expect(failures[0]).toContain("could not be delivered");
  kernel.isFull = false;
  await processes.call(A, "wake", {});
  await send(A, "again", "r2");
  await ends(A).toEqual([
    ["r1", "heard hello"],
    ["r2", "heard again"],
  ]);
  const seqs = kernel.events(A).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
});

test("discards a process whose rows were lost, and continues from the rows on disk", async () => {
  await reopen({ reopenMs: 20 });
  await send(A, "hello", "r1");
  await ends(A).toEqual([["r1", "heard hello"]]);
  await processes.close();
  spoil(A);
  processes = open({ reopenMs: 20 });
  await expect(send(A, "spoil this", "r2")).rejects.toBeInstanceOf(StorageError);
  // The process is discarded at the end of this turn.
  await yieldToEventLoop();
  expect(await historyOf(A)).not.toContain("spoil this");
  // Rows that nobody waits for are lost as well, and the reopened process does that work again.
  models.answer = () => [{ type: "text", text: models.requests.length < 4 ? "spoil" : "fine" }];
  // On a slow machine the answer might share a batch with its question, and both would be lost.
  models.holds = deferred();
  await send(A, "and now", "r3");
  models.holds.resolve();
  models.holds = null;
  await ends(A).toEqual([
    ["r1", "heard hello"],
    ["r3", "fine"],
  ]);
  expect(models.requests.length).toBe(4);
  expect(await historyOf(A)).not.toContain("spoil");
  expect(failures.filter((failure) => !/^a run failed .*StorageError/.test(failure))).toEqual([]);
});

/** From now on a message with this word makes SQLite roll back everything that is not committed, as on a full disk. */
function spoil(pid: string): void {
  const database = new DatabaseSync(join(folder, "processes", `${pid.replace(":", "-")}.db`));
  database.exec(`
    CREATE TRIGGER spoil AFTER INSERT ON messages WHEN NEW.content LIKE '%spoil%' BEGIN SELECT RAISE(ROLLBACK, 'spoiled'); END`);
  database.close();
}

test.runIf(process.platform === "linux")("many sleeping processes need few open files and little memory", async () => {
  const crowd = fileURLToPath(new URL("../../../test/support/crowd.ts", import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--expose-gc", crowd]);
  expect(stderr).toBe("");
  type Sample = { open: number; bytes: number; files: number };
  const [first, full, asleep] = JSON.parse(stdout) as [Sample, Sample, Sample];
  expect(full.open).toBeLessThanOrEqual(20);
  // Three files each, plus those that Node itself has open.
  expect(full.files).toBeLessThan(100);
  expect([asleep.open, full.files - asleep.files]).toEqual([0, 3 * full.open]);
  // All of them open would need some 70 MB.
  expect(full.bytes - first.bytes).toBeLessThan(40_000_000);
});
