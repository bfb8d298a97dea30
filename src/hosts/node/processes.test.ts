// Processes on Node: sleep and wakes, files and memory, lost batches, and lives that go on where the last one stopped.

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
import { deferred } from "../../lib/deferred.ts";
import { StorageError } from "../../ports/sql.ts";
import { NodeProcesses, type ProcessesOptions } from "./processes.ts";

const A = "init:1000";
let folder: string;
let models: ScriptedModels;
let kernel: ScriptedKernel;
let processes: NodeProcesses;
let failures: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-processes-"));
  models = new ScriptedModels();
  kernel = new ScriptedKernel();
  failures = [];
  processes = open();
});

afterEach(async () => {
  models.holds?.resolve();
  await processes.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(more: Partial<ProcessesOptions> = {}): NodeProcesses {
  const opened = new NodeProcesses({
    folder: join(folder, "processes"),
    models,
    uuid: () => crypto.randomUUID(),
    log: memoryLog((line) => failures.push(line)),
    fatal: (error) => failures.push(String(error)),
    ...more,
  });
  opened.start(kernel);
  return opened;
}

async function reopen(more: Partial<ProcessesOptions> = {}): Promise<void> {
  await processes.close();
  processes = open(more);
}

function say(pid: string, text: string, runId: string): Promise<unknown> {
  return processes.call(pid, "send", { said: { role: "user", text }, reason: "proc.send", runId });
}

function said(pid: string): Promise<unknown> {
  return processes.call(pid, "history", {}).then((page) => JSON.stringify(page));
}

const ends = (pid: string) => expect.poll(() => kernel.ends(pid), { interval: 5 });

test("sleeps when nothing is under way, and goes on with the same rows when it is asked for", async () => {
  await reopen({ idleMs: 40 });
  await say(A, "hello", "r1");
  await ends(A).toEqual([["r1", "heard hello"]]);
  await expect.poll(() => processes.size).toBe(0);
  await say(A, "again", "r2");
  await ends(A).toEqual([
    ["r1", "heard hello"],
    ["r2", "heard again"],
  ]);
  expect(lastText(models.requests.at(-1)!)).toBe("again");
  expect(models.requests.at(-1)!.messages).toHaveLength(3);
  expect(failures).toEqual([]);
});

test("does not sleep while a model answers, a tool runs, or somebody waits", async () => {
  await reopen({ idleMs: 20 });
  models.holds = deferred();
  await say(A, "think", "r1");
  await expect.poll(() => models.requests.length).toBe(1);
  // Another that is opened later and has nothing to do is closed first.
  await processes.call("init:1001", "state", {});
  expect(processes.size).toBe(2);
  await expect.poll(() => processes.size).toBe(1);
  expect(models.aborted).toBe(0);
  models.holds.resolve();
  await ends(A).toEqual([["r1", "heard think"]]);
  expect(models.requests).toHaveLength(1);
  await expect.poll(() => processes.size).toBe(0);
});

test("keeps few open, and closes the longest unused first, but none that works", async () => {
  await reopen({ openMax: 3 });
  models.holds = deferred();
  await say("init:1", "work", "r1");
  await expect.poll(() => models.requests.length).toBe(1);
  for (const uid of [2, 3, 4, 5, 6]) {
    await processes.call(`init:${uid}`, "state", {});
    expect(processes.size).toBeLessThanOrEqual(3);
  }
  models.holds.resolve();
  await ends("init:1").toEqual([["r1", "heard work"]]);
  // Had it been closed in between, its model would have been asked again.
  expect([models.requests.length, models.aborted]).toEqual([1, 0]);
});

test("works on two at once", async () => {
  const other = crypto.randomUUID();
  models.holds = deferred();
  await Promise.all([say(A, "one", "r1"), say(other, "two", "r2")]);
  await expect.poll(() => models.requests.length).toBe(2);
  models.holds.resolve();
  await ends(A).toEqual([["r1", "heard one"]]);
  await ends(other).toEqual([["r2", "heard two"]]);
  expect(readdirSync(join(folder, "processes")).filter((name) => name.endsWith(".db"))).toEqual(
    expect.arrayContaining(["init-1000.db", `${other}.db`]),
  );
});

test("makes no file for what is no process", async () => {
  for (const pid of ["", "..", "../kernel", "init:", "init:x", "init:1/..", crypto.randomUUID().toUpperCase(), "a\0b"])
    await expect(processes.call(pid, "state", {})).rejects.toMatchObject({ code: 404 });
  expect(readdirSync(join(folder, "processes"))).toEqual([]);
});

test("tells events by number, and pieces of an answer between them, in order", async () => {
  models.answer = () => [{ type: "text", text: "one two three four" }];
  for (const runId of ["r1", "r2", "r3"]) await say(A, "count", runId);
  await expect.poll(() => kernel.ends(A).length).toBe(3);
  const seqs = kernel.events(A).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  const order = kernel.of(A).map((told) => ("event" in told ? told.event.signal : "piece"));
  const first = order.indexOf("piece");
  expect(order.slice(0, first)).toContain("proc.run.started");
  expect(order.slice(0, first)).not.toContain("proc.run.output");
  const pieces = kernel.of(A).flatMap((told) => ("piece" in told && told.piece.runId === "r1" ? Number(told.piece.seq) : []));
  expect(pieces).toEqual(pieces.map((_, at) => pieces[0]! + at));
  expect(order.indexOf("proc.run.output")).toBeGreaterThan(order.indexOf("piece") + pieces.length - 1);
});

test("is cut off in the middle of a model's answer, and a new life asks again", async () => {
  models.holds = deferred();
  await say(A, "think", "r1");
  await expect.poll(() => models.requests.length).toBe(1);
  await processes.close();
  expect(kernel.ends(A)).toEqual([]);
  const told = kernel.of(A).length;
  await expect(processes.call(A, "state", {})).rejects.toMatchObject({ code: 503 });
  models.holds = null;
  processes = open();
  await processes.call(A, "wake", {});
  await ends(A).toEqual([["r1", "heard think"]]);
  expect([models.requests.length, models.aborted]).toEqual([2, 1]);
  // The old life had nothing more to say once it was closed.
  const after = kernel.of(A).slice(told);
  expect(after.find((one) => "piece" in one)).toMatchObject({ piece: { modelCall: 1, seq: 1 } });
  expect(JSON.stringify(kernel.of(A))).not.toContain("aborted");
});

test("tells in a new life what the kernel has not heard, before anything new", async () => {
  await say(A, "hello", "r1");
  await ends(A).toEqual([["r1", "heard hello"]]);
  await processes.close();
  const all = kernel.events(A).length;
  kernel.of(A).splice(2);
  processes = open();
  await say(A, "again", "r2");
  await ends(A).toEqual([
    ["r1", "heard hello"],
    ["r2", "heard again"],
  ]);
  const seqs = kernel.events(A).map(({ seq }) => seq);
  expect(seqs.length).toBeGreaterThan(all);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
});

test("keeps what the kernel cannot hear now, and tells it in order when it can", async () => {
  kernel.isFull = true;
  await say(A, "hello", "r1");
  await expect.poll(() => said(A)).toContain("heard hello");
  expect(kernel.of(A)).toEqual([]);
  expect(failures[0]).toContain("could not be told");
  kernel.isFull = false;
  await processes.call(A, "wake", {});
  await say(A, "again", "r2");
  await ends(A).toEqual([
    ["r1", "heard hello"],
    ["r2", "heard again"],
  ]);
  const seqs = kernel.events(A).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
});

test("throws a life away whose rows were lost, and goes on from those on disk", async () => {
  await reopen({ reviveMs: 20 });
  await say(A, "hello", "r1");
  await ends(A).toEqual([["r1", "heard hello"]]);
  await processes.close();
  spoil(A);
  processes = open({ reviveMs: 20 });
  await expect(say(A, "spoil this", "r2")).rejects.toBeInstanceOf(StorageError);
  expect(await said(A)).not.toContain("spoil this");
  // What nobody waits for is lost as well, and is done again by the life that follows.
  models.answer = () => [{ type: "text", text: models.requests.length < 4 ? "spoil" : "fine" }];
  // On a slow machine the answer might come into the batch of what it answers, and take that with it.
  models.holds = deferred();
  await say(A, "and now", "r3");
  models.holds.resolve();
  models.holds = null;
  await ends(A).toEqual([
    ["r1", "heard hello"],
    ["r3", "fine"],
  ]);
  expect(models.requests.length).toBe(4);
  expect(await said(A)).not.toContain("spoil");
  expect(failures).toEqual([]);
});

/** From now on the commit of a message with this word in it fails: it leaves a promise that only the commit looks at. */
function spoil(pid: string): void {
  const database = new DatabaseSync(join(folder, "processes", `${pid.replace(":", "-")}.db`));
  database.exec(`
    CREATE TABLE promised (id INTEGER PRIMARY KEY);
    CREATE TABLE broken (id INTEGER REFERENCES promised DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER spoil AFTER INSERT ON messages WHEN NEW.content LIKE '%spoil%' BEGIN INSERT INTO broken VALUES (1); END`);
  database.close();
}

test.runIf(process.platform === "linux")("has room for many that sleep: few files, little memory", async () => {
  const crowd = fileURLToPath(new URL("../../../test/support/crowd.ts", import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--expose-gc", crowd]);
  expect(stderr).toBe("");
  type Look = { open: number; bytes: number; files: number };
  const [first, full, asleep] = JSON.parse(stdout) as [Look, Look, Look];
  expect(full.open).toBeLessThanOrEqual(20);
  // Three files each, and what Node has open itself.
  expect(full.files).toBeLessThan(100);
  expect([asleep.open, full.files - asleep.files]).toEqual([0, 3 * full.open]);
  // Open they would need some 70 MB.
  expect(full.bytes - first.bytes).toBeLessThan(40_000_000);
});
