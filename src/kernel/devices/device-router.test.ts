// Calls forwarded to a device: what happens when the device is late, the gateway restarts, or the caller disconnects.

import { createHash } from "node:crypto";
import { STOPPED } from "../../process/kernel-port.ts";
import { beforeEach, expect, it } from "vitest";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { StorageError } from "../../ports/sql.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ReadContext, WriteContext } from "../context.ts";
import { Devices } from "../nouns/devices.ts";
import { Routes } from "../nouns/routes.ts";
import { Cancellations } from "../nouns/cancellations.ts";
import { ProcessSessions } from "../nouns/process-sessions.ts";
import { ShellSessions } from "../nouns/shell-sessions.ts";
import { resolveTargetDevice } from "../target.ts";
import { ROUTE_TTL_MS, STORE_AFTER_MS, DeviceRouter } from "./device-router.ts";
import { migrate } from "../schema/migrate.ts";

const ALICE = { uid: 1000, gids: [1000], connectionId: "alice's socket" } as unknown as Caller;
const ON_HARDWARE = { runs: "hardware" } as const;
const DRIVER = "driver's socket";
/** The gateway's key for the device, and the name its owner uses. */
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
let starts: number;
let statuses: object[];
let isFull: boolean;
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
  isFull = false;
  [sent, dropped, woken, statuses, durable, starts] = [[], [], [], [], 0, 0];
  const devices = new Devices(
    sql,
    { nameOf: String, uidOf: Number },
    () => now,
    () => now,
  );
  devices.recordConnection(
    {
      deviceId: "laptop",
      ownerUid: 1000,
      platform: "",
      version: "",
      implements: ["fs.*", "shell.exec", "sys.vitals"],
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
  deviceRouter = restart();
});

/** A restart of the kernel, or a wake from hibernation: memory is new, the rows are unchanged. */
function restart(): DeviceRouter {
  const ports = {
    crypto: { uuid: () => `life ${++starts}`, sha256: (text: string) => createHash("sha256").update(text).digest() },
    clock: { now: () => now },
    sockets: { send: (to: string, text: string) => void sent.push({ to, frame: JSON.parse(text) as Record<string, unknown> }) },
    meter: { countDropped: (reason: string) => void dropped.push(reason) },
  };
  const store = fakeStore(context, {
    ports,
    write: (body) => {
      durable++;
      const after: (() => void)[] = [];
      const emit = { sendExecStatus: (uid: number, payload: object) => void statuses.push({ uid, ...payload }) };
      const value = body({ ...context, now, emit, after: (action: () => void) => after.push(action) } as unknown as WriteContext);
      for (const action of after) action();
      return value;
    },
    relaxed: (body) => {
      if (isFull) throw new StorageError(true, "on purpose");
      return body(context as unknown as WriteContext);
    },
    wakeBy: (dueAt) => void woken.push(dueAt!),
  });
  return new DeviceRouter(store);
}

const ask = (call: string, signal = new AbortController().signal, key?: string, caller = ALICE) =>
  deviceRouter.forward(call, caller, { id: "request 7", ...(key === undefined ? {} : { key }) }, LAPTOP, { path: "x" }, signal);
/** The open calls have not been answered for a second. */
const becomeSlow = () => {
  now += STORE_AFTER_MS;
  deviceRouter.onWake(now);
};
const running = (id: string) => ({ type: "res" as const, id, ok: true as const, data: { status: "running", sessionId: "s" } });
const reasons = async (pending: Promise<unknown>[]) =>
  (await Promise.allSettled(pending)).map((end) => end.status === "rejected" && (end.reason as object));
const answer = (id: string, content = "yes") => ({ type: "res" as const, id, ok: true as const, data: { content } });

it("sends a cancellation to the device when a call is stopped, and still accepts the answer", async () => {
  const stopping = new AbortController();
  const pending = ask("shell.exec", stopping.signal, "k");
  const { key } = sent[0]!.frame;
  stopping.abort(STOPPED);
  expect(sent.slice(1)).toEqual([{ to: DRIVER, frame: { type: "sig", signal: "req.cancel", payload: { id: "life 1.1", key } } }]);
  deviceRouter.handleResult(DRIVER, answer("life 1.1"));
  expect(await pending).toEqual({ content: "yes" });
  await expect(ask("fs.read", stopping.signal)).rejects.toMatchObject({ code: 503 });
});

it("sends stored cancellations once to a device that was offline", () => {
  deviceRouter.cancelLater(KEY, ALICE, "k");
  deviceRouter.onDeviceConnected(KEY);
  expect(sent).toMatchObject([{ to: DRIVER, frame: { signal: "req.cancel", payload: { key: expect.any(String) as string } } }]);
});

it("forwards a call and delivers its answer once", async () => {
  const pending = ask("fs.read");
  expect(sent).toEqual([{ to: DRIVER, frame: { type: "req", id: "life 1.1", call: "fs.read", args: { path: "x" } } }]);
  deviceRouter.handleResult("somebody else's socket", answer("life 1.1", "forged"));
  deviceRouter.handleResult(DRIVER, answer("life 1.1"));
  deviceRouter.handleResult(DRIVER, answer("life 1.1", "twice"));
  expect(await pending).toEqual({ content: "yes" });
  expect(dropped).toEqual(["unasked", "unasked"]);
});

it("passes on the vitals of a device without what they do not have, and refuses anything else", async () => {
  const vitals = { system: "Linux", arch: null, cpuCount: null, cpuBusy: 0.5, memory: null, disk: null, uptimeMs: 1 };
  const [sound, other] = [ask("sys.vitals"), ask("sys.vitals")];
  const ends = Promise.allSettled([sound, other]);
  deviceRouter.handleResult(DRIVER, { type: "res", id: "life 1.1", ok: true, data: { ...vitals, more: "text" } });
  deviceRouter.handleResult(DRIVER, { type: "res", id: "life 1.2", ok: true, data: { ...vitals, system: { toString: "x" } } });
  expect(await ends).toMatchObject([
    { status: "fulfilled", value: vitals },
    { status: "rejected", reason: { code: 503, message: "laptop gave an answer that is not one of sys.vitals: update GSV on it" } },
  ]);
  expect(await sound).not.toHaveProperty("more");
});

it("times out after a minute, and reports the outcome of a write as unknown", async () => {
  const [read, write] = [ask("fs.read"), ask("fs.write")];
  const ends = Promise.allSettled([read, write]);
  expect(woken).toEqual([now + STORE_AFTER_MS, now + STORE_AFTER_MS]);
  now += ROUTE_TTL_MS - 1;
  deviceRouter.onWake(now);
  expect(deviceRouter.nextDueAt()).toBe(now + 1);
  now += 1;
  deviceRouter.onWake(now);
  expect((await ends).map((end) => end.status === "rejected" && (end.reason as { code: number; message: string }))).toMatchObject([
    { code: 504, message: "Syscall timed out: fs.read on laptop" },
    { code: 504, message: "Syscall timed out: fs.write on laptop. It is not known whether the call ran" },
  ]);
  deviceRouter.handleResult(DRIVER, answer("life 1.1", "late"));
  expect(dropped).toEqual(["unasked"]);
});

it("delivers an answer from the row alone when the kernel was restarted meanwhile", () => {
  void ask("fs.read");
  becomeSlow();
  deviceRouter = restart();
  sent = [];
  deviceRouter.handleResult(DRIVER, answer("life 1.1"));
  expect(sent).toEqual([{ to: ALICE.connectionId, frame: { type: "res", id: "request 7", ok: true, data: { content: "yes" } } }]);
});

it("drops the route when the caller disconnects, and ignores the answer", async () => {
  const disconnect = new AbortController();
  const pending = ask("fs.read", disconnect.signal);
  disconnect.abort();
  await expect(pending).rejects.toMatchObject({ code: 503, message: "The call was cancelled" });
  expect(deviceRouter.nextDueAt()).toBeNull();
  void ask("fs.read");
  becomeSlow();
  deviceRouter.onSocketClosed(ALICE.connectionId);
  expect([deviceRouter.nextDueAt(), context.routes.listIds()]).toEqual([null, []]);
  deviceRouter.handleResult(DRIVER, answer("life 1.2"));
  expect(dropped).toEqual(["unasked"]);
});

it("passes on a device's error, with code 500 if its code is not one of ours", async () => {
  const pending = Promise.allSettled([ask("fs.read"), ask("fs.read")]);
  deviceRouter.handleResult(DRIVER, { type: "res", id: "life 1.1", ok: false, error: { code: 404, message: "no" } });
  deviceRouter.handleResult(DRIVER, { type: "res", id: "life 1.2", ok: false, error: { code: -1, message: "odd" } });
  expect((await pending).map((end) => end.status === "rejected" && (end.reason as object))).toMatchObject([
    { code: 404, message: "no" },
    { code: 500, message: "odd" },
  ]);
});

it("routes a session to the device that runs it, for its owner only and for a month", async () => {
  const pending = ask("shell.exec");
  deviceRouter.handleResult(DRIVER, { type: "res", id: "life 1.1", ok: true, data: { status: "running", sessionId: "s" } });
  await pending;
  const reads = context as unknown as ReadContext;
  expect(resolveTargetDevice(reads, ALICE, ON_HARDWARE, { sessionId: "s" })).toEqual(LAPTOP);
  expect(resolveTargetDevice(reads, { ...ALICE, uid: 1001 }, ON_HARDWARE, { sessionId: "s" })).toBeNull();
  expect(() => resolveTargetDevice(reads, ALICE, ON_HARDWARE, { sessionId: "s", target: "gsv" })).toThrow("Session s runs on laptop");
  now += 30 * 24 * 60 * 60 * 1000;
  context.shellSessions.prune(now);
  expect(resolveTargetDevice(reads, ALICE, ON_HARDWARE, { sessionId: "s" })).toBeNull();
});

it("sends a key that is unique to the caller, with a new request id each time", async () => {
  const bob = { ...ALICE, uid: 1001, gids: [0], connectionId: "bob's" };
  context.devices.grant(KEY, 0);
  const pending = [ask("fs.write", undefined, "once"), ask("fs.write", undefined, "once"), ask("fs.write", undefined, "once", bob)];
  const keys = sent.map(({ frame }) => frame.key);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
  expect(new Set(sent.map(({ frame }) => frame.id)).size).toBe(3);
  for (const { frame } of sent) deviceRouter.handleResult(DRIVER, answer(String(frame.id)));
  expect(await Promise.all(pending)).toHaveLength(3);
  void ask("fs.read", undefined, "once");
  expect(sent.at(-1)!.frame).not.toHaveProperty("key");
});

it("refuses a key for a device that keeps no ledger", async () => {
  context.devices.recordConnection(
    { deviceId: "laptop", ownerUid: 1000, platform: "", version: "", implements: ["fs.*"], connectionId: DRIVER },
    now,
  );
  expect(await reasons([ask("fs.write", undefined, "once")])).toMatchObject([{ code: 400, details: { takesKey: false } }]);
  expect(sent).toEqual([]);
});

it("says how to learn the outcome of a keyed call whose device disconnected", async () => {
  const pending = [ask("fs.write"), ask("fs.write", undefined, "once"), ask("fs.read")];
  deviceRouter.onSocketClosed(DRIVER);
  const unknown = "Device disconnected: laptop. It is not known whether the call ran";
  expect(await reasons(pending)).toMatchObject([
    { code: 503, message: unknown, details: { outcome: "unknown" } },
    { code: 503, message: `${unknown}: retry with the same key to find out`, details: { outcome: "unknown" } },
    { code: 503, message: "Device disconnected: laptop" },
  ]);
});

it("passes on only the known details of a device's error", async () => {
  const pending = [1, 2, 3].map(() => ask("fs.write"));
  const details = [{ outcome: "unknown", more: 1 }, { takesKey: false }, { outcome: "odd" }];
  details.forEach((one, at) =>
    deviceRouter.handleResult(DRIVER, {
      type: "res",
      id: `life 1.${at + 1}`,
      ok: false,
      error: { code: 409, message: "no", details: one },
    }),
  );
  expect((await reasons(pending)).map((error) => (error as { details: unknown }).details)).toEqual([
    { outcome: "unknown" },
    { takesKey: false },
    undefined,
  ]);
});

it("records a session whose caller has disconnected, without sending an answer", async () => {
  const disconnect = new AbortController();
  const abandoned = ask("shell.exec", disconnect.signal);
  disconnect.abort();
  await expect(abandoned).rejects.toMatchObject({ code: 503 });
  void ask("shell.exec");
  deviceRouter.onSocketClosed(ALICE.connectionId);
  sent = [];
  deviceRouter.handleResult(DRIVER, running("life 1.1"));
  deviceRouter.handleResult(DRIVER, running("life 1.2"));
  expect(sent).toEqual([]);
  expect(dropped).toEqual([]);
  expect(context.shellSessions.get("s", now)).toMatchObject({ deviceId: KEY, uid: 1000 });
  expect(deviceRouter.nextDueAt()).toBeNull();
});

it("waits for the disk only with the first answer that names a session", () => {
  for (const id of ["life 1.1", "life 1.2", "life 1.3"]) {
    void ask("shell.exec");
    deviceRouter.handleResult(DRIVER, running(id));
  }
  expect(durable).toBe(1);
});

it("accepts a status report only from the device that runs the command, and each report once", () => {
  const driver = (device: string, connectionId: string) => ({ connectionId, identity: { role: "driver", device } }) as unknown as Caller;
  const tell = (from: Caller, event: string, signal = "exec.status", sessionId = "s") =>
    deviceRouter.handleSignal(from, { type: "sig", signal, payload: { eventId: "e", sessionId, event, exitCode: 3 } });
  void ask("shell.exec");
  deviceRouter.handleResult(DRIVER, running("life 1.1"));
  tell(driver("tower", "tower's"), "finished");
  tell(driver("laptop", "an older socket of it"), "finished");
  tell(driver("laptop", DRIVER), "finished", "exec.other");
  tell(driver("laptop", DRIVER), "finished", "exec.status", "nobody's");
  deviceRouter.handleSignal(driver("laptop", DRIVER), { type: "sig", signal: "exec.status", payload: { sessionId: 7 } });
  expect(dropped).toEqual(["signal", "signal", "signal", "signal", "signal"]);
  expect(statuses).toEqual([]);
  for (const event of ["started", "started", "failed", "finished", "started"]) tell(driver("laptop", DRIVER), event);
  expect(statuses).toMatchObject([
    { uid: 1000, deviceId: "laptop", sessionId: "s", event: "started" },
    { uid: 1000, deviceId: "laptop", sessionId: "s", event: "failed", exitCode: 3 },
  ]);
});

it("makes a row only of a call that is not answered within a second, and removes it with the answer", async () => {
  const quick = ask("fs.read");
  deviceRouter.handleResult(DRIVER, answer("life 1.1"));
  expect(await quick).toEqual({ content: "yes" });
  const slow = [ask("fs.read"), ask("shell.exec")];
  expect([context.routes.listIds(), deviceRouter.nextDueAt()]).toEqual([[], now + STORE_AFTER_MS]);
  becomeSlow();
  expect([context.routes.listIds(), deviceRouter.nextDueAt()]).toEqual([["life 1.2", "life 1.3"], now - STORE_AFTER_MS + ROUTE_TTL_MS]);
  for (const id of ["life 1.2", "life 1.3"]) deviceRouter.handleResult(DRIVER, answer(id));
  expect(await Promise.all(slow)).toHaveLength(2);
  expect(context.routes.listIds()).toEqual([]);
});

it("answers and fails calls whose rows cannot be removed, once", async () => {
  const [answered, failed] = [ask("fs.read"), ask("fs.read")];
  const disconnect = new AbortController();
  const abandoned = ask("fs.read", disconnect.signal);
  becomeSlow();
  isFull = true;
  deviceRouter.handleResult(DRIVER, answer("life 1.1"));
  expect(await answered).toEqual({ content: "yes" });
  disconnect.abort();
  await expect(abandoned).rejects.toMatchObject({ code: 503 });
  expect(() => deviceRouter.onSocketClosed(DRIVER)).toThrow(StorageError);
  expect(await reasons([failed])).toMatchObject([{ code: 503, message: "Device disconnected: laptop" }]);
  isFull = false;
  sent = [];
  expect(context.routes.listIds()).toHaveLength(3);
  deviceRouter.handleResult(DRIVER, answer("life 1.2", "late"));
  now += ROUTE_TTL_MS;
  deviceRouter.onWake(now);
  expect([sent, dropped, context.routes.listIds()]).toEqual([[], ["unasked"], []]);
});

it("after a lost batch, stores rows again that were lost and does not answer again calls whose row came back", async () => {
  const pending = [ask("fs.write"), ask("fs.read"), ask("shell.exec")];
  becomeSlow();
  deviceRouter.handleResult(DRIVER, answer("life 1.2"));
  expect(await pending[1]).toEqual({ content: "yes" });
  // The batch with the first row and the end of the second is lost.
  context.routes.remove(["life 1.1"]);
  context.routes.add({ ...ROUTE, routeId: "life 1.2" });
  deviceRouter.onRollback();
  expect(context.routes.listIds()).toEqual(["life 1.3"]);
  deviceRouter.onWake(now);
  expect(context.routes.listIds()).toEqual(["life 1.1", "life 1.3"]);
  deviceRouter.handleResult(DRIVER, answer("life 1.1"));
  expect(await pending[0]).toEqual({ content: "yes" });
  // The same, with a restart before the answer arrives.
  deviceRouter = restart();
  deviceRouter.handleResult(DRIVER, answer("life 1.3"));
  context.routes.add({ ...ROUTE, routeId: "life 1.3" });
  context.routes.add({ ...ROUTE, routeId: "life 1.4" });
  deviceRouter.onRollback();
  expect(context.routes.listIds()).toEqual(["life 1.4"]);
});
