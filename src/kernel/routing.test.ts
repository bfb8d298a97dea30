// Calls on their way to a device: what becomes of them when the device is late, the gateway forgets, or the asker goes.

import { beforeEach, expect, it } from "vitest";
import { MemorySql } from "../../test/support/memory-ports.ts";
import type { Ports } from "../ports/ports.ts";
import type { Caller } from "../protocol/caller.ts";
import type { ReadContext, WriteContext } from "./context.ts";
import { Devices } from "./nouns/devices.ts";
import { Routes } from "./nouns/routes.ts";
import { ShellSessions } from "./nouns/shell-sessions.ts";
import { route } from "./route.ts";
import { ROUTE_TTL_MS, Routing } from "./routing.ts";
import { migrate } from "./schema/migrate.ts";

const ALICE = { uid: 1000, gids: [1000], connectionId: "alice's socket" } as unknown as Caller;
const DRIVER = "driver's socket";

let now: number;
let sent: { to: string; frame: Record<string, unknown> }[];
let dropped: string[];
let woken: number[];
let context: { routes: Routes; shellSessions: ShellSessions; devices: Devices; now: number };
let routing: Routing;

beforeEach(() => {
  const sql = new MemorySql();
  migrate(sql);
  now = 1_000;
  [sent, dropped, woken] = [[], [], []];
  const devices = new Devices(
    sql,
    () => now,
    () => now,
  );
  devices.connected(
    { deviceId: "laptop", ownerUid: 1000, platform: "", version: "", implements: ["fs.*", "shell.exec"], connectionId: DRIVER },
    now,
  );
  const nouns = { routes: new Routes(sql), shellSessions: new ShellSessions(sql), devices };
  context = Object.defineProperty(nouns, "now", { get: () => now }) as typeof context;
  routing = life();
});

/** What a start of the kernel, or a wake from sleep, makes: the rows are what they were. */
function life(): Routing {
  let count = 0;
  const ports = {
    crypto: { uuid: () => `route ${++count}` },
    clock: { now: () => now },
    sockets: { send: (to: string, text: string) => void sent.push({ to, frame: JSON.parse(text) as Record<string, unknown> }) },
    meter: { dropped: (reason: string) => void dropped.push(reason) },
  } as unknown as Ports;
  return new Routing({
    ports,
    reads: context as unknown as ReadContext,
    relaxed: (body) => body(context as unknown as WriteContext),
    wakeBy: (dueAt) => void woken.push(dueAt),
  });
}

const ask = (call: string, signal = new AbortController().signal) =>
  routing.forward(call, ALICE, "request 7", "laptop", { path: "x" }, signal);
const answer = (id: string, content = "yes") => ({ type: "res" as const, id, ok: true as const, data: { content } });

it("carries a call there and its answer back, once", async () => {
  const asked = ask("fs.read");
  expect(sent).toEqual([{ to: DRIVER, frame: { type: "req", id: "route 1", call: "fs.read", args: { path: "x" } } }]);
  routing.answered("somebody else's socket", answer("route 1", "forged"));
  routing.answered(DRIVER, answer("route 1"));
  routing.answered(DRIVER, answer("route 1", "twice"));
  expect(await asked).toEqual({ content: "yes" });
  expect(dropped).toEqual(["unasked", "unasked"]);
});

it("gives up after a minute, and says of a write that its outcome is not known", async () => {
  const [read, write] = [ask("fs.read"), ask("fs.write")];
  const ends = Promise.allSettled([read, write]);
  expect(woken).toEqual([now + ROUTE_TTL_MS, now + ROUTE_TTL_MS]);
  now += ROUTE_TTL_MS - 1;
  routing.woke(now);
  expect(context.routes.nextDueAt()).toBe(now + 1);
  now += 1;
  routing.woke(now);
  expect((await ends).map((end) => end.status === "rejected" && (end.reason as { code: number; message: string }))).toMatchObject([
    { code: 504, message: "Syscall timed out: fs.read on laptop" },
    { code: 504, message: "Syscall timed out: fs.write on laptop. Whether it was carried out is not known" },
  ]);
  routing.answered(DRIVER, answer("route 1", "late"));
  expect(dropped).toEqual(["unasked"]);
});

it("finds its way back by the row alone when the kernel was put to sleep meanwhile", () => {
  void ask("fs.read");
  routing = life();
  sent = [];
  routing.answered(DRIVER, answer("route 1"));
  expect(sent).toEqual([{ to: ALICE.connectionId, frame: { type: "res", id: "request 7", ok: true, data: { content: "yes" } } }]);
});

it("forgets what was asked when the asker goes, and drops the answer", async () => {
  const gone = new AbortController();
  const asked = ask("fs.read", gone.signal);
  gone.abort();
  await expect(asked).rejects.toMatchObject({ code: 503, message: "The caller went away" });
  expect(context.routes.nextDueAt()).toBeNull();
  void ask("fs.read");
  routing.originGone(ALICE.connectionId);
  expect(context.routes.nextDueAt()).toBeNull();
  routing.answered(DRIVER, answer("route 2"));
  expect(dropped).toEqual(["unasked"]);
});

it("hands on a device's own error, with a code of ours or none", async () => {
  const asked = Promise.allSettled([ask("fs.read"), ask("fs.read")]);
  routing.answered(DRIVER, { type: "res", id: "route 1", ok: false, error: { code: 404, message: "no" } });
  routing.answered(DRIVER, { type: "res", id: "route 2", ok: false, error: { code: -1, message: "odd" } });
  expect((await asked).map((end) => end.status === "rejected" && (end.reason as object))).toMatchObject([
    { code: 404, message: "no" },
    { code: 500, message: "odd" },
  ]);
});

it("asks after a command where it runs, its owner only, and for a day", async () => {
  const asked = ask("shell.exec");
  routing.answered(DRIVER, { type: "res", id: "route 1", ok: true, data: { status: "running", sessionId: "s" } });
  await asked;
  const reads = context as unknown as ReadContext;
  expect(route(reads, ALICE, { sessionId: "s" })).toBe("laptop");
  expect(route(reads, { ...ALICE, uid: 1001 }, { sessionId: "s" })).toBeNull();
  expect(() => route(reads, ALICE, { sessionId: "s", target: "gsv" })).toThrow("Session s runs on laptop");
  now += 24 * 60 * 60 * 1000;
  context.shellSessions.prune(now);
  expect(route(reads, ALICE, { sessionId: "s" })).toBeNull();
});
