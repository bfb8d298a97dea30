// Forwards hardware calls to devices and their answers back. Only the device that a call was sent to may answer it, once, while
// the route is open; any other answer is dropped and counted. Most calls are answered within a second and are known to memory alone.
// Later the route becomes a row, which is enough to deliver the answer if the kernel's memory is lost meanwhile. A call with a key may
// be retried: each attempt has its own route, and the device, which remembers the key, runs the call once and answers every attempt.

import { allows } from "../../lib/capability.ts";
import { toHex } from "../../lib/hex.ts";
import { ERRORS, type ErrorCode, fail, SysError } from "../../lib/sys-error.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import { STOPPED } from "../../process/kernel-port.ts";
import { type Req, type Res, type Sig, encodeSignalFrame } from "../../protocol/frames.ts";
import { hardwareCalls } from "../../hardware/calls/table.ts";
import type { WriteContext } from "../context.ts";
import { checkAnswer } from "./check-answer.ts";
import { handleExecStatus } from "./exec-status.ts";
import { NOBODY, type Route } from "../nouns/routes.ts";
import type { Part } from "../part.ts";
import { TAKES_NO_KEY, type Target } from "../target.ts";
import type { Store } from "../store.ts";
import { EXEC_STATUS, REQ_CANCEL } from "../../protocol/signal-names.ts";
import type { Payload } from "../../protocol/signals.ts";

type Data = Record<string, unknown>;
type Outcome = { ok: true; data: Data } | { ok: false; error: SysError };
type RequestRef = Pick<Req, "id" | "key">;
/** `isStored`: there is a row of it. */
type PendingRoute = { route: Route; isStored: boolean; resolve: (data: Data) => void; reject: (error: SysError) => void };

export const ROUTE_TTL_MS = 60_000;
/** A Durable Object keeps its memory longer than this, however idle it is. */
export const STORE_AFTER_MS = 1_000;
const EXTEND_EVERY_MS = 10_000;
const READS: ReadonlySet<string> = new Set(hardwareCalls.filter(({ does }) => does === "read").map(({ name }) => name));
const KEY_CHARS = 32;
const EXEC = "shell.exec";
const UNKNOWN = { outcome: "unknown" };
const LIST = "shell.list";

/** Creates the device's end of a body. `onActivity` must be called whenever a part of the body arrives. */
type JoinBody = (driverId: string, onActivity: () => void) => { args: Data; end(): void };

export class DeviceRouter implements Part {
  readonly #store: Store;
  /** Open routes that were made since the kernel started, including those whose caller has gone. */
  readonly #pending = new Map<string, PendingRoute>();
  /** Routes from before the kernel's last start that were closed since. */
  readonly #closed = new Set<string>();
  readonly #instanceId: string;
  #routeCount = 0;

  constructor(store: Store) {
    this.#store = store;
    this.#instanceId = store.ports.crypto.uuid();
  }

  /** `args` must not contain the target. Rejects if the call fails or is not answered. `join` is given if the call carries a body. */
  async forward(
    call: string,
    caller: Caller,
    request: RequestRef,
    target: Target,
    args: Data,
    signal: AbortSignal,
    join?: JoinBody,
  ): Promise<Data> {
    const { ports } = this.#store;
    if (signal.aborted) fail(503, "The call was cancelled before it was sent");
    const { driverId, keepsLedger } = this.#requireDriver(call, caller, target);
    const key = request.key === undefined || READS.has(call) ? undefined : this.#scopeKeyToUser(request.key, caller);
    if (key !== undefined && !keepsLedger)
      fail(400, `Device ${target.name} keeps no ledger, so it takes no key: check what happened before you retry`, TAKES_NO_KEY);
    const routeId = `${this.#instanceId}.${++this.#routeCount}`;
    const dueAt = ports.clock.now() + ROUTE_TTL_MS;
    const body = join?.(driverId, this.#makeExtender(routeId));
    const { connectionId: originId, uid } = caller;
    const device = { deviceId: target.key, target: target.name };
    const route = { routeId, call, ...device, driverId, originId, requestId: request.id, uid, dueAt, isKeyed: key !== undefined };
    this.#store.relaxed(({ devices }) => devices.recordNameUse(caller, target.key, target.name));
    const answer = new Promise<Data>((resolve, reject) => this.#pending.set(routeId, { route, isStored: false, resolve, reject }));
    this.#store.wakeBy(storeAtOf(route));
    const onAbort = () => (signal.reason === STOPPED ? this.#cancel(driverId, { id: routeId, key }) : this.#abandon(route));
    signal.addEventListener("abort", onAbort, { once: true });
    const frame = { type: "req", id: routeId, call, args: { ...args, ...body?.args }, ...(key === undefined ? {} : { key }) };
    ports.sockets.send(driverId, JSON.stringify(frame));
    try {
      return await answer;
    } finally {
      signal.removeEventListener("abort", onAbort);
      body?.end();
    }
  }

  /** A call was stopped that its device may still run: the device is told to cancel it when it reconnects. */
  cancelLater(deviceKey: string, caller: Caller, key: string): void {
    this.#store.relaxed(({ cancellations, now }) => cancellations.add(deviceKey, this.#scopeKeyToUser(key, caller), now));
    // The device may have reconnected before its old socket was known to be closed.
    this.onDeviceConnected(deviceKey);
  }

  /** A device has connected: sends it the cancellations that were stored for it. */
  onDeviceConnected(deviceKey: string): void {
    const driverId = this.#store.reads.devices.connectionIdOf(deviceKey);
    if (driverId === undefined || driverId === null) return;
    for (const key of this.#store.relaxed(({ cancellations }) => cancellations.takeByDevice(deviceKey))) this.#cancel(driverId, { key });
  }

  /** A `res` frame arrived from a socket. */
  handleResult(socketId: string, frame: Res): void {
    const route = this.#pending.get(frame.id)?.route ?? this.#takeForgottenAnswer(frame.id, socketId);
    if (route?.driverId !== socketId) return this.#store.ports.meter.countDropped("unasked");
    this.#settle(route, frame.ok ? this.#readAnswer(route, toData(frame.data)) : { ok: false, error: deviceErrorOf(frame) });
  }

  #readAnswer(route: Route, data: Data): Outcome {
    try {
      return { ok: true, data: this.#handleAnswer(route, checkAnswer(route.call, route.target, data)) };
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      return { ok: false, error };
    }
  }

  /** A `sig` frame arrived from a device. */
  handleSignal(driver: Caller, { signal, payload }: Sig): void {
    const isAccepted = signal === EXEC_STATUS && handleExecStatus(this.#store, driver, payload);
    if (!isAccepted) this.#store.ports.meter.countDropped("signal");
  }

  onSocketClosed(socketId: string): void {
    this.#failRoutesOfDriver(socketId);
    this.#dropRoutesOfOrigin(socketId);
  }

  /** The device's socket has closed, so its open calls will never be answered. */
  #failRoutesOfDriver(driverId: string): void {
    const fail = (route: Route) =>
      this.#settle(route, { ok: false, error: unansweredError(503, `Device disconnected: ${route.target}`, route) });
    for (const route of this.#listPending((one) => one.driverId === driverId)) fail(route);
    for (const route of this.#takeForgotten(({ routes }) => routes.takeOfDriver(driverId))) fail(route);
  }

  /**
   * The caller has disconnected: the device is not told, and its answer will find no route. Only routes of commands stay open,
   * because the answer may name a session that would otherwise have no owner.
   */
  #dropRoutesOfOrigin(originId: string): void {
    for (const route of this.#listPending((one) => one.originId === originId)) this.#drop(route);
    this.#store.relaxed(({ routes }) => {
      routes.disownByOrigin(originId, EXEC);
      routes.takeOfOrigin(originId);
    });
  }

  /** A batch was lost: rows of open routes may be gone, and rows of closed ones may have come back. */
  onRollback(): void {
    const stored = new Set(this.#store.reads.routes.listIds());
    for (const [routeId, pending] of this.#pending) pending.isStored = stored.has(routeId);
    const isClosed = (routeId: string) => this.#closed.has(routeId) || (this.#isOwn(routeId) && !this.#pending.has(routeId));
    this.#store.relaxed(({ routes }) => routes.remove([...stored].filter(isClosed)));
  }

  nextDueAt(): number | null {
    let earliest = this.#store.reads.routes.nextDueAt() ?? Infinity;
    for (const { route, isStored } of this.#pending.values()) earliest = Math.min(earliest, isStored ? route.dueAt : storeAtOf(route));
    return earliest === Infinity ? null : earliest;
  }

  onWake(now: number): void {
    const fail = (route: Route) =>
      this.#settle(route, { ok: false, error: unansweredError(504, `Syscall timed out: ${route.call} on ${route.target}`, route) });
    for (const route of this.#listPending((one) => one.dueAt <= now)) fail(route);
    for (const route of this.#takeForgotten(({ routes }) => routes.takeDue(now))) fail(route);
    const slow = [...this.#pending.values()].filter(({ route, isStored }) => !isStored && storeAtOf(route) <= now);
    if (slow.length === 0) return;
    this.#store.relaxed(({ routes }) => {
      for (const { route } of slow) routes.add(route);
    });
    for (const pending of slow) pending.isStored = true;
  }

  #listPending(condition: (route: Route) => boolean): Route[] {
    return [...this.#pending.values()].map(({ route }) => route).filter(condition);
  }

  /** Takes rows, and returns the routes that memory does not know: an earlier life of the kernel made them. */
  #takeForgotten(take: (context: WriteContext) => Route[]): Route[] {
    if (this.#store.reads.routes.isEmpty()) return [];
    return this.#store.relaxed(take).filter(({ routeId }) => !this.#isOwn(routeId));
  }

  #takeForgottenAnswer(routeId: string, driverId: string): Route | undefined {
    return this.#isOwn(routeId) ? undefined : this.#store.relaxed(({ routes }) => routes.take(routeId, driverId));
  }

  /** Whether this life of the kernel made the route. Its row, if there still is one, says nothing that memory does not know. */
  #isOwn(routeId: string): boolean {
    return routeId.startsWith(`${this.#instanceId}.`);
  }

  /** Memory knows the routes, so a row that could not be written changes nothing now. */
  #changeRow(change: (context: WriteContext) => void): void {
    this.#store.attempt(() => this.#store.relaxed(change));
  }

  /** Returns a function that postpones the route's timeout; while a body arrives, the call must not time out. */
  #makeExtender(routeId: string): () => void {
    const { ports } = this.#store;
    let extendedAt = ports.clock.now();
    return () => {
      const now = ports.clock.now();
      if (now - extendedAt < EXTEND_EVERY_MS) return;
      extendedAt = now;
      const pending = this.#pending.get(routeId);
      if (pending === undefined) return;
      pending.route = { ...pending.route, dueAt: now + ROUTE_TTL_MS };
      if (pending.isStored) this.#changeRow(({ routes }) => routes.extend(routeId, now + ROUTE_TTL_MS));
    };
  }

  /** Checks access, then presence, then support for the call: in this order, so that a user without access learns nothing. */
  #requireDriver(call: string, caller: Caller, { key, name }: Target): { driverId: string; keepsLedger: boolean } {
    const device = this.#store.reads.devices.findTarget(caller, key) ?? fail(403, `Access denied to device: ${name}`);
    if (!device.online) fail(503, `Device offline: ${name}`);
    if (!allows(device.implements, call)) fail(400, `Device ${name} does not implement ${call}`);
    const driverId = device.driverId ?? fail(503, `No active connection for device: ${name}`);
    return { driverId, keepsLedger: device.keepsLedger };
  }

  /** A device does not know who owns its sessions: the gateway records it, and hides other users' sessions from lists. */
  #handleAnswer(route: Route, data: Data): Data {
    if (route.call === EXEC) this.#recordSession(route, data);
    if (route.call !== LIST) return data;
    const sessions = Array.isArray(data.sessions) ? data.sessions.map(toData) : [];
    return { sessions: sessions.filter((session) => isRoot(route) || this.#isOwnSession(route, session)) };
  }

  #isOwnSession({ deviceId, uid }: Route, { sessionId }: Data): boolean {
    const { shellSessions, now } = this.#store.reads;
    const own = typeof sessionId === "string" ? shellSessions.get(sessionId, now) : undefined;
    return own?.uid === uid && own.deviceId === deviceId;
  }

  /** The key that is sent to the device. It includes the uid, so keys of two users never collide. */
  #scopeKeyToUser(key: string, { uid }: Caller): string {
    return toHex(this.#store.ports.crypto.sha256(`${uid}/${key}`)).slice(0, KEY_CHARS);
  }

  /** A new session is on disk before the answer that names it leaves. Later answers do not wait for the disk. */
  #recordSession({ deviceId, target, uid }: Route, data: unknown): void {
    const { reads } = this.#store;
    const { sessionId } = toData(data);
    if (typeof sessionId !== "string" || sessionId.length > 128) return;
    const record = ({ shellSessions, now }: WriteContext) => shellSessions.recordUse({ sessionId, deviceId, target, uid }, now);
    if (reads.shellSessions.get(sessionId, reads.now) === undefined) this.#store.write(record);
    else this.#store.relaxed(record);
  }

  /** The call still waits for its answer, which says how far it got; a device that cannot cancel answers when it is done. */
  #cancel(driverId: string, payload: Payload<typeof REQ_CANCEL>): void {
    this.#store.ports.sockets.send(driverId, encodeSignalFrame(REQ_CANCEL, payload));
  }

  #abandon(route: Route): void {
    this.#pending.get(route.routeId)?.reject(new SysError(503, "The call was cancelled"));
    this.#drop(route);
  }

  /** Nobody waits for the answer any more. If it may name a session, the route stays open, so that the session is recorded. */
  #drop({ routeId, call }: Route): void {
    const pending = this.#pending.get(routeId);
    if (pending === undefined) return;
    if (call !== EXEC) return this.#forget(routeId, pending);
    this.#pending.set(routeId, { ...pending, route: { ...pending.route, originId: NOBODY }, resolve() {}, reject() {} });
    if (pending.isStored) this.#changeRow(({ routes }) => routes.disownOne(routeId));
  }

  #forget(routeId: string, { isStored }: PendingRoute): void {
    this.#pending.delete(routeId);
    if (isStored) this.#changeRow(({ routes }) => routes.remove([routeId]));
  }

  #settle({ routeId, originId, requestId }: Route, outcome: Outcome): void {
    const pending = this.#pending.get(routeId);
    if (pending !== undefined) {
      this.#forget(routeId, pending);
      return outcome.ok ? pending.resolve(outcome.data) : pending.reject(outcome.error);
    }
    this.#closed.add(routeId);
    if (originId === NOBODY) return;
    // The kernel has restarted or hibernated since the call was sent, so only the row knows the caller.
    const body = outcome.ok ? outcome : { ok: false, error: outcome.error.toShape() };
    this.#store.ports.sockets.send(originId, JSON.stringify({ type: "res", id: requestId, ...body }), requestId, true);
  }
}

function storeAtOf({ dueAt }: Route): number {
  return dueAt - ROUTE_TTL_MS + STORE_AFTER_MS;
}

/** A read that was not answered simply failed. For any other call the outcome is unknown, unless it can be retried by its key. */
function unansweredError(code: ErrorCode, message: string, { call, isKeyed }: Route): SysError {
  if (READS.has(call)) return new SysError(code, message);
  const hint = isKeyed ? ": retry with the same key to find out" : "";
  return new SysError(code, `${message}. It is not known whether the call ran${hint}`, UNKNOWN);
}

function toData(data: unknown): Data {
  return typeof data === "object" && data !== null && !Array.isArray(data) ? (data as Data) : {};
}

/** Passes on a device's error: its message, its code if it is one of ours, and only the details that we know. */
function deviceErrorOf({ error }: Extract<Res, { ok: false }>): SysError {
  const isKnownCode = error.code in ERRORS;
  const { outcome, takesKey } = toData(error.details);
  const details = outcome === "unknown" || outcome === "done" ? { outcome } : takesKey === false ? TAKES_NO_KEY : undefined;
  return new SysError(isKnownCode ? (error.code as ErrorCode) : 500, error.message.slice(0, 2000), details);
}
