// Calls on their way to a device: what becomes of them when the device is late, the gateway forgets, or the asker goes.

import { createHash } from "node:crypto";
import { STOPPED } from "../../process/kernel-port.ts";
import { beforeEach, expect, it } from "vitest";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ReadContext, WriteContext } from "../context.ts";
import { Devices } from "../nouns/devices.ts";
import { Routes } from "../nouns/routes.ts";
import { Cancellations } from "../nouns/cancellations.ts";
import { ProcessSessions } from "../nouns/process-sessions.ts";
import { ShellSessions } from "../nouns/shell-sessions.ts";
import { targetOf } from "../target.ts";
import { ROUTE_TTL_MS, DeviceRouter } from "./device-router.ts";
import { migrate } from "../schema/migrate.ts";

const ALICE = { uid: 1000, gids: [1000], connectionId: "alice's socket" } as unknown as Caller;
const ON_HARDWARE = { runs: "hardware" } as const;
const DRIVER = "driver's socket";
/** The gateway's own name for it, and what its owner calls it. */
const KEY = "laptop~1000";
const LAPTOP = { key: KEY, name: "laptop" };
const ROUTE = {
  call: "fs.read",
  deviceId: KEY,
  target: "laptop",
  driverId: DRIVER,
  originId: ALICE.connectionId,
  requestId: "request 7",
  uid: 1000,
  dueAt: 99_000,
  isKeyed: false,
};

let now: number;
let sent: { to: string; frame: Record<string, unknown> }[];
let dropped: string[];
let woken: number[];
let durable: number;
let lives: number;
let told: object[];
let context: {
  routes: Routes;
  shellSessions: ShellSessions;
  processSessions: ProcessSessions;
  cancellations: Cancellations;
  devices: Devices;
  now: number;
};
let deviceRouter: DeviceRouter;

beforeEach(() => {
  const sql = new MemorySql();
  migrate(sql);
  now = 1_000;
  [sent, dropped, woken, told, durable, lives] = [[], [], [], [], 0, 0];
  const devices = new Devices(
    sql,
    { nameOf: String, uidOf: Number },
    () => now,
    () => now,
  );
  devices.connected(
    {
      deviceId: "laptop",
      ownerUid: 1000,
      platform: "",
      version: "",
      implements: ["fs.*", "shell.exec"],
      keepsLedger: true,
      connectionId: DRIVER,
    },
    now,
  );
  const nouns = {
    routes: new Routes(sql),
    shellSessions: new ShellSessions(sql),
    processSessions: new ProcessSessions(sql),
    cancellations: new Cancellations(sql),
    devices,
  };
  context = Object.defineProperty(nouns, "now", { get: () => now }) as typeof context;
  deviceRouter = life();
});

/** What a start of the kernel, or a wake from sleep, makes: the rows are what they were. */
function life(): DeviceRouter {
  const ports = {
    crypto: { uuid: () => `life ${++lives}`, sha256: (text: string) => createHash("sha256").update(text).digest() },
    clock: { now: () => now },
    sockets: { send: (to: string, text: string) => void sent.push({ to, frame: JSON.parse(text) as Record<string, unknown> }) },
    meter: { dropped: (reason: string) => void dropped.push(reason) },
  };
  const store = fakeStore(context, {
    ports,
    write: (body) => {
      durable++;
      const after: (() => void)[] = [];
      const emit = { execStatus: (uid: number, payload: object) => void told.push({ uid, ...payload }) };
      const value = body({ ...context, now, emit, after: (action: () => void) => after.push(action) } as unknown as WriteContext);
      for (const action of after) action();
      return value;
    },
    wakeBy: (dueAt) => void woken.push(dueAt!),
  });
  return new DeviceRouter(store);
}

const ask = (call: string, signal = new AbortController().signal, key?: string, caller = ALICE) =>
  deviceRouter.forward(call, caller, { id: "request 7", ...(key === undefined ? {} : { key }) }, LAPTOP, { path: "x" }, signal);
const running = (id: string) => ({ type: "res" as const, id, ok: true as const, data: { status: "running", sessionId: "s" } });
const reasons = async (asked: Promise<unknown>[]) =>
  (await Promise.allSettled(asked)).map((end) => end.status === "rejected" && (end.reason as object));
const answer = (id: string, content = "yes") => ({ type: "res" as const, id, ok: true as const, data: { content } });

it("tells the device when a call is stopped, and still takes its answer", async () => {
  const stopping = new AbortController();
  const asked = ask("shell.exec", stopping.signal, "k");
  const { key } = sent[0]!.frame;
  stopping.abort(STOPPED);
  expect(sent.slice(1)).toEqual([{ to: DRIVER, frame: { type: "sig", signal: "req.cancel", payload: { id: "life 1.1", key } } }]);
  deviceRouter.answered(DRIVER, answer("life 1.1"));
  expect(await asked).toEqual({ content: "yes" });
  await expect(ask("fs.read", stopping.signal)).rejects.toMatchObject({ code: 503 });
});

it("tells a device that was away what was stopped meanwhile, once", () => {
  deviceRouter.cancelLater(KEY, ALICE, "k");
  deviceRouter.deviceCame(KEY);
  expect(sent).toMatchObject([{ to: DRIVER, frame: { signal: "req.cancel", payload: { key: expect.any(String) as string } } }]);
});

it("carries a call there and its answer back, once", async () => {
  const asked = ask("fs.read");
  expect(sent).toEqual([{ to: DRIVER, frame: { type: "req", id: "life 1.1", call: "fs.read", args: { path: "x" } } }]);
  deviceRouter.answered("somebody else's socket", answer("life 1.1", "forged"));
  deviceRouter.answered(DRIVER, answer("life 1.1"));
  deviceRouter.answered(DRIVER, answer("life 1.1", "twice"));
  expect(await asked).toEqual({ content: "yes" });
  expect(dropped).toEqual(["unasked", "unasked"]);
});

it("gives up after a minute, and says of a write that its outcome is not known", async () => {
  const [read, write] = [ask("fs.read"), ask("fs.write")];
  const ends = Promise.allSettled([read, write]);
  expect(woken).toEqual([now + ROUTE_TTL_MS, now + ROUTE_TTL_MS]);
  now += ROUTE_TTL_MS - 1;
  deviceRouter.woke(now);
  expect(context.routes.nextDueAt()).toBe(now + 1);
  now += 1;
  deviceRouter.woke(now);
  expect((await ends).map((end) => end.status === "rejected" && (end.reason as { code: number; message: string }))).toMatchObject([
    { code: 504, message: "Syscall timed out: fs.read on laptop" },
    { code: 504, message: "Syscall timed out: fs.write on laptop. Whether the call was carried out is not known" },
  ]);
  deviceRouter.answered(DRIVER, answer("life 1.1", "late"));
  expect(dropped).toEqual(["unasked"]);
});

it("finds its way back by the row alone when the kernel was put to sleep meanwhile", () => {
  void ask("fs.read");
  deviceRouter = life();
  sent = [];
  deviceRouter.answered(DRIVER, answer("life 1.1"));
  expect(sent).toEqual([{ to: ALICE.connectionId, frame: { type: "res", id: "request 7", ok: true, data: { content: "yes" } } }]);
});

it("forgets what was asked when the asker goes, and drops the answer", async () => {
  const gone = new AbortController();
  const asked = ask("fs.read", gone.signal);
  gone.abort();
  await expect(asked).rejects.toMatchObject({ code: 503, message: "The caller went away" });
  expect(context.routes.nextDueAt()).toBeNull();
  void ask("fs.read");
  deviceRouter.socketClosed(ALICE.connectionId);
  expect(context.routes.nextDueAt()).toBeNull();
  deviceRouter.answered(DRIVER, answer("life 1.2"));
  expect(dropped).toEqual(["unasked"]);
});

it("hands on a device's own error, with a code of ours or none", async () => {
  const asked = Promise.allSettled([ask("fs.read"), ask("fs.read")]);
  deviceRouter.answered(DRIVER, { type: "res", id: "life 1.1", ok: false, error: { code: 404, message: "no" } });
  deviceRouter.answered(DRIVER, { type: "res", id: "life 1.2", ok: false, error: { code: -1, message: "odd" } });
  expect((await asked).map((end) => end.status === "rejected" && (end.reason as object))).toMatchObject([
    { code: 404, message: "no" },
    { code: 500, message: "odd" },
  ]);
});

it("asks after a command where it runs, its owner only, and for a month", async () => {
  const asked = ask("shell.exec");
  deviceRouter.answered(DRIVER, { type: "res", id: "life 1.1", ok: true, data: { status: "running", sessionId: "s" } });
  await asked;
  const reads = context as unknown as ReadContext;
  expect(targetOf(reads, ALICE, ON_HARDWARE, { sessionId: "s" })).toEqual(LAPTOP);
  expect(targetOf(reads, { ...ALICE, uid: 1001 }, ON_HARDWARE, { sessionId: "s" })).toBeNull();
  expect(() => targetOf(reads, ALICE, ON_HARDWARE, { sessionId: "s", target: "gsv" })).toThrow("Session s runs on laptop");
  now += 30 * 24 * 60 * 60 * 1000;
  context.shellSessions.prune(now);
  expect(targetOf(reads, ALICE, ON_HARDWARE, { sessionId: "s" })).toBeNull();
});

it("sends a key along that is the caller's own, each time with another id", async () => {
  const bob = { ...ALICE, uid: 1001, gids: [0], connectionId: "bob's" };
  context.devices.grant(KEY, 0);
  const asked = [ask("fs.write", undefined, "once"), ask("fs.write", undefined, "once"), ask("fs.write", undefined, "once", bob)];
  const keys = sent.map(({ frame }) => frame.key);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
  expect(new Set(sent.map(({ frame }) => frame.id)).size).toBe(3);
  for (const { frame } of sent) deviceRouter.answered(DRIVER, answer(String(frame.id)));
  expect(await Promise.all(asked)).toHaveLength(3);
  void ask("fs.read", undefined, "once");
  expect(sent.at(-1)!.frame).not.toHaveProperty("key");
});

it("takes no key for a device that keeps no ledger, and says so", async () => {
  context.devices.connected(
    { deviceId: "laptop", ownerUid: 1000, platform: "", version: "", implements: ["fs.*"], connectionId: DRIVER },
    now,
  );
  expect(await reasons([ask("fs.write", undefined, "once")])).toMatchObject([{ code: 400, details: { takesKey: false } }]);
  expect(sent).toEqual([]);
});

it("says of a keyed call that went missing how to learn what became of it", async () => {
  const asked = [ask("fs.write"), ask("fs.write", undefined, "once"), ask("fs.read")];
  deviceRouter.socketClosed(DRIVER);
  const unknown = "Device disconnected: laptop. Whether the call was carried out is not known";
  expect(await reasons(asked)).toMatchObject([
    { code: 503, message: unknown, details: { outcome: "unknown" } },
    { code: 503, message: `${unknown}: send it again with the same key to learn it`, details: { outcome: "unknown" } },
    { code: 503, message: "Device disconnected: laptop" },
  ]);
});

it("hands on of a device's details only what means something here", async () => {
  const asked = [1, 2, 3].map(() => ask("fs.write"));
  const details = [{ outcome: "unknown", more: 1 }, { takesKey: false }, { outcome: "odd" }];
  details.forEach((one, at) =>
    deviceRouter.answered(DRIVER, { type: "res", id: `life 1.${at + 1}`, ok: false, error: { code: 409, message: "no", details: one } }),
  );
  expect((await reasons(asked)).map((error) => (error as { details: unknown }).details)).toEqual([
    { outcome: "unknown" },
    { takesKey: false },
    undefined,
  ]);
});

it("remembers a session whose asker is gone, and tells nobody", async () => {
  const gone = new AbortController();
  const left = ask("shell.exec", gone.signal);
  gone.abort();
  await expect(left).rejects.toMatchObject({ code: 503 });
  void ask("shell.exec");
  deviceRouter.socketClosed(ALICE.connectionId);
  sent = [];
  deviceRouter.answered(DRIVER, running("life 1.1"));
  deviceRouter.answered(DRIVER, running("life 1.2"));
  expect(sent).toEqual([]);
  expect(dropped).toEqual([]);
  expect(context.shellSessions.get("s", now)).toMatchObject({ deviceId: KEY, uid: 1000 });
  expect(context.routes.nextDueAt()).toBeNull();
});

it("waits for the disk with the first answer of a session, and with no other", () => {
  for (const id of ["life 1.1", "life 1.2", "life 1.3"]) {
    void ask("shell.exec");
    deviceRouter.answered(DRIVER, running(id));
  }
  expect(durable).toBe(1);
});

it("believes about a command only the device that runs it, and each thing once", () => {
  const driver = (device: string, connectionId: string) => ({ connectionId, identity: { role: "driver", device } }) as unknown as Caller;
  const tell = (from: Caller, event: string, signal = "exec.status", sessionId = "s") =>
    deviceRouter.signalled(from, { type: "sig", signal, payload: { eventId: "e", sessionId, event, exitCode: 3 } });
  void ask("shell.exec");
  deviceRouter.answered(DRIVER, running("life 1.1"));
  tell(driver("tower", "tower's"), "finished");
  tell(driver("laptop", "an older socket of it"), "finished");
  tell(driver("laptop", DRIVER), "finished", "exec.other");
  tell(driver("laptop", DRIVER), "finished", "exec.status", "nobody's");
  deviceRouter.signalled(driver("laptop", DRIVER), { type: "sig", signal: "exec.status", payload: { sessionId: 7 } });
  expect(dropped).toEqual(["signal", "signal", "signal", "signal", "signal"]);
  expect(told).toEqual([]);
  for (const event of ["started", "started", "failed", "finished", "started"]) tell(driver("laptop", DRIVER), event);
  expect(told).toMatchObject([
    { uid: 1000, deviceId: "laptop", sessionId: "s", event: "started" },
    { uid: 1000, deviceId: "laptop", sessionId: "s", event: "failed", exitCode: 3 },
  ]);
});

it("lets nobody wait for a row that was lost, and answers nobody twice whose row came back", async () => {
  const asked = [ask("fs.write"), ask("fs.read"), ask("shell.exec")];
  deviceRouter.answered(DRIVER, answer("life 1.2"));
  const [, second] = asked;
  expect(await second).toEqual({ content: "yes" });
  // The batch with the first row and the end of the second is lost.
  context.routes.take("life 1.1", DRIVER);
  context.routes.add({ ...ROUTE, routeId: "life 1.2" });
  deviceRouter.rolledBack();
  expect(await reasons([asked[0]!])).toMatchObject([{ code: 503, details: { outcome: "unknown" } }]);
  expect(context.routes.ids()).toEqual(["life 1.3"]);
  // The same, where the kernel was put to sleep before the answer came.
  deviceRouter = life();
  deviceRouter.answered(DRIVER, answer("life 1.3"));
  context.routes.add({ ...ROUTE, routeId: "life 1.3" });
  context.routes.add({ ...ROUTE, routeId: "life 1.4" });
  deviceRouter.rolledBack();
  expect(context.routes.ids()).toEqual(["life 1.4"]);
});
