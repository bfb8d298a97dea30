// Carries hardware calls to devices and their answers back. The device that was asked is the only one that may answer,
// once, while the route is open; anything else is dropped and counted. Memory may vanish while a call is under way: then
// the answer finds its way by the row alone. A call with a key may be sent again: each sending has a route of its own, and
// the device, which knows the key, carries it out once and answers them all.

import { allows } from "../../lib/capability.ts";
import { toHex } from "../../lib/hex.ts";
import { ERRORS, type ErrorCode, fail, SysError } from "../../lib/sys-error.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import { STOPPED } from "../../process/kernel-port.ts";
import { type Req, type Res, type Sig, signalFrame } from "../../protocol/frames.ts";
import { hardwareCalls } from "../../hardware/calls/table.ts";
import type { WriteContext } from "../context.ts";
import { execStatus } from "./exec-status.ts";
import { NOBODY, type Route } from "../nouns/routes.ts";
import type { Part } from "../part.ts";
import { TAKES_NO_KEY, type Target } from "../target.ts";
import type { Store } from "../store.ts";
import { EXEC_STATUS, REQ_CANCEL } from "../../protocol/signal-names.ts";
import type { Payload } from "../../protocol/signals.ts";

type Data = Record<string, unknown>;
type Asked = Pick<Req, "id" | "key">;
type Waiting = { route: Route; resolve: (data: Data) => void; reject: (error: SysError) => void };

export const ROUTE_TTL_MS = 60_000;
const PROLONG_MS = 10_000;
const READS: ReadonlySet<string> = new Set(hardwareCalls.filter(({ does }) => does === "read").map(({ name }) => name));
const KEY_CHARS = 32;
const EXEC = "shell.exec";
const UNKNOWN = { outcome: "unknown" };
const LIST = "shell.list";

/** Where the device's end of a body is made; `heard` is to be called whenever something of it comes. */
type Join = (driverId: string, heard: () => void) => { args: Data; end(): void };

export class DeviceRouter implements Part {
  readonly #store: Store;
  /** Routes of this life of the kernel that are open, those included that nobody waits for any more. */
  readonly #waiting = new Map<string, Waiting>();
  /** Routes of an earlier life that were closed in this one. */
  readonly #closed = new Set<string>();
  readonly #life: string;
  #count = 0;

  constructor(store: Store) {
    this.#store = store;
    this.#life = store.ports.crypto.uuid();
  }

  /** `args` without target. Rejects with what kept the call from being answered. `join` of a call that carries a body. */
  async forward(call: string, caller: Caller, asked: Asked, target: Target, args: Data, signal: AbortSignal, join?: Join): Promise<Data> {
    const { ports } = this.#store;
    if (signal.aborted) fail(503, "The caller went away before this was sent");
    const { driverId, keepsLedger } = this.#targetOf(call, caller, target);
    const key = asked.key === undefined || READS.has(call) ? undefined : this.#keyOf(asked.key, caller);
    if (key !== undefined && !keepsLedger)
      fail(400, `Device ${target.name} keeps no ledger, so it takes no key: look what is there before you send it again`, TAKES_NO_KEY);
    const routeId = `${this.#life}.${++this.#count}`;
    const dueAt = ports.clock.now() + ROUTE_TTL_MS;
    const joint = join?.(driverId, this.#prolonging(routeId));
    const { connectionId: originId, uid } = caller;
    const device = { deviceId: target.key, target: target.name };
    const route = { routeId, call, ...device, driverId, originId, requestId: asked.id, uid, dueAt, isKeyed: key !== undefined };
    this.#store.relaxed(({ routes, devices }) => {
      devices.used(caller, target.key, target.name);
      routes.add(route);
    });
    this.#store.wakeBy(dueAt);
    const answer = new Promise<Data>((resolve, reject) => this.#waiting.set(routeId, { route, resolve, reject }));
    const dropped = () => (signal.reason === STOPPED ? this.#cancel(driverId, { id: routeId, key }) : this.#drop(route));
    signal.addEventListener("abort", dropped, { once: true });
    const frame = { type: "req", id: routeId, call, args: { ...args, ...joint?.args }, ...(key === undefined ? {} : { key }) };
    ports.sockets.send(driverId, JSON.stringify(frame));
    try {
      return await answer;
    } finally {
      signal.removeEventListener("abort", dropped);
      joint?.end();
    }
  }

  /** A call was stopped that its device may still carry out: it is told when it is back. */
  cancelLater(deviceKey: string, caller: Caller, key: string): void {
    this.#store.relaxed(({ cancellations, now }) => cancellations.add(deviceKey, this.#keyOf(key, caller), now));
    // It may have come back by another socket before the old one was known to be gone.
    this.deviceCame(deviceKey);
  }

  /** A device has connected. */
  deviceCame(deviceKey: string): void {
    const driverId = this.#store.reads.devices.driverOf(deviceKey);
    if (driverId === undefined || driverId === null) return;
    for (const key of this.#store.relaxed(({ cancellations }) => cancellations.take(deviceKey))) this.#cancel(driverId, { key });
  }

  /** A `res` from some socket. */
  answered(socketId: string, frame: Res): void {
    const known = this.#waiting.get(frame.id)?.route;
    const route = this.#store.relaxed(({ routes }) => {
      if (known === undefined) return routes.take(frame.id, socketId);
      return routes.close(frame.id, socketId) ? known : undefined;
    });
    if (route === undefined) return this.#store.ports.meter.dropped("unasked");
    this.#settle(route, frame.ok ? { ok: true, data: this.#told(route, dataOf(frame.data)) } : { ok: false, error: errorOf(frame) });
  }

  /** A `sig` from a device. */
  signalled(driver: Caller, { signal, payload }: Sig): void {
    const isTaken = signal === EXEC_STATUS && execStatus(this.#store, driver, payload);
    if (!isTaken) this.#store.ports.meter.dropped("signal");
  }

  socketClosed(socketId: string): void {
    this.#driverGone(socketId);
    this.#originGone(socketId);
  }

  /** The device's socket is gone, and nobody will ever answer. */
  #driverGone(driverId: string): void {
    for (const route of this.#store.relaxed(({ routes }) => routes.takeOfDriver(driverId)))
      this.#settle(route, { ok: false, error: failed(503, `Device disconnected: ${route.target}`, route) });
  }

  /**
   * Whoever asked is gone: the device is not told, and its answer finds no route. Only a command's is waited for, because
   * it may name a session that would otherwise be nobody's.
   */
  #originGone(originId: string): void {
    this.#store.relaxed(({ routes }) => {
      for (const routeId of routes.disown(originId, EXEC)) this.#disown(routeId);
      for (const { routeId } of routes.takeOfOrigin(originId)) this.#waiting.delete(routeId);
    });
  }

  /** A batch was lost: whose row went with it would wait for ever, and whose row came back would be answered twice. */
  rolledBack(): void {
    const open = new Set(this.#store.reads.routes.ids());
    for (const [routeId, waiting] of this.#waiting) {
      if (open.has(routeId)) continue;
      const { route } = waiting;
      this.#waiting.delete(routeId);
      waiting.reject(failed(503, `The gateway's storage failed while ${route.target} was asked`, route));
    }
    const isClosed = (routeId: string) =>
      this.#closed.has(routeId) || (routeId.startsWith(`${this.#life}.`) && !this.#waiting.has(routeId));
    this.#store.relaxed(({ routes }) => routes.remove([...open].filter(isClosed)));
  }

  nextDueAt(): number | null {
    return this.#store.reads.routes.nextDueAt();
  }

  woke(now: number): void {
    if ((this.nextDueAt() ?? Infinity) > now) return;
    for (const route of this.#store.relaxed(({ routes }) => routes.takeDue(now))) {
      this.#settle(route, { ok: false, error: failed(504, `Syscall timed out: ${route.call} on ${route.target}`, route) });
    }
  }

  /** While something comes, nobody is late. */
  #prolonging(routeId: string): () => void {
    const { ports } = this.#store;
    let at = ports.clock.now();
    return () => {
      const now = ports.clock.now();
      if (now - at < PROLONG_MS) return;
      at = now;
      this.#store.relaxed(({ routes }) => routes.extend(routeId, now + ROUTE_TTL_MS));
    };
  }

  /** Who may use it, whether it is there, and whether it can do this: in this order, so that a stranger learns nothing. */
  #targetOf(call: string, caller: Caller, { key, name }: Target): { driverId: string; keepsLedger: boolean } {
    const device = this.#store.reads.devices.asTarget(caller, key) ?? fail(403, `Access denied to device: ${name}`);
    if (!device.online) fail(503, `Device offline: ${name}`);
    if (!allows(device.implements, call)) fail(400, `Device ${name} does not implement ${call}`);
    const driverId = device.driverId ?? fail(503, `No active connection for device: ${name}`);
    return { driverId, keepsLedger: device.keepsLedger };
  }

  /** A device knows its sessions but not whose they are; the gateway remembers who was told of which. */
  #told(route: Route, data: Data): Data {
    if (route.call === EXEC) this.#remember(route, data);
    if (route.call !== LIST) return data;
    const sessions = Array.isArray(data.sessions) ? data.sessions.map(dataOf) : [];
    return { sessions: sessions.filter((session) => isRoot(route) || this.#isOwn(route, session)) };
  }

  #isOwn({ deviceId, uid }: Route, { sessionId }: Data): boolean {
    const { shellSessions, now } = this.#store.reads;
    const own = typeof sessionId === "string" ? shellSessions.get(sessionId, now) : undefined;
    return own?.uid === uid && own.deviceId === deviceId;
  }

  /** What a device is to remember the call by: two users' keys never meet. */
  #keyOf(key: string, { uid }: Caller): string {
    return toHex(this.#store.ports.crypto.sha256(`${uid}/${key}`)).slice(0, KEY_CHARS);
  }

  /** Whoever is told of a session can rely on it: it is on disk before the answer leaves. Later answers wait for no disk. */
  #remember({ deviceId, target, uid }: Route, data: unknown): void {
    const { reads } = this.#store;
    const { sessionId } = dataOf(data);
    if (typeof sessionId !== "string" || sessionId.length > 128) return;
    const heard = ({ shellSessions, now }: WriteContext) => shellSessions.heard({ sessionId, deviceId, target, uid }, now);
    if (reads.shellSessions.get(sessionId, reads.now) === undefined) this.#store.write(heard);
    else this.#store.relaxed(heard);
  }

  /** Whoever stopped it waits for the answer, which says how far it came; a device that cannot cancel answers in its own time. */
  #cancel(driverId: string, payload: Payload<typeof REQ_CANCEL>): void {
    this.#store.ports.sockets.send(driverId, signalFrame(REQ_CANCEL, payload));
  }

  #drop({ routeId, driverId, call }: Route): void {
    this.#waiting.get(routeId)?.reject(new SysError(503, "The caller went away"));
    if (call === EXEC) this.#disown(routeId);
    else this.#waiting.delete(routeId);
    this.#store.relaxed(({ routes }) => (call === EXEC ? routes.disownOne(routeId) : routes.take(routeId, driverId)));
  }

  /** Its answer is for nobody, and still of use. */
  #disown(routeId: string): void {
    const waiting = this.#waiting.get(routeId);
    if (waiting !== undefined) this.#waiting.set(routeId, { ...waiting, resolve() {}, reject() {} });
  }

  #settle({ routeId, originId, requestId }: Route, outcome: { ok: true; data: Data } | { ok: false; error: SysError }): void {
    const waiting = this.#waiting.get(routeId);
    this.#waiting.delete(routeId);
    if (waiting !== undefined) return outcome.ok ? waiting.resolve(outcome.data) : waiting.reject(outcome.error);
    this.#closed.add(routeId);
    if (originId === NOBODY) return;
    // The kernel was put to sleep and woken since.
    const body = outcome.ok ? outcome : { ok: false, error: outcome.error.toShape() };
    this.#store.ports.sockets.send(originId, JSON.stringify({ type: "res", id: requestId, ...body }), requestId, true);
  }
}

/** A read has failed, and that is all. Of anything else nobody can say whether it was done, unless it can be asked again. */
function failed(code: ErrorCode, message: string, { call, isKeyed }: Route): SysError {
  if (READS.has(call)) return new SysError(code, message);
  const how = isKeyed ? ": send it again with the same key to learn it" : "";
  return new SysError(code, `${message}. Whether the call was carried out is not known${how}`, UNKNOWN);
}

function dataOf(data: unknown): Data {
  return typeof data === "object" && data !== null && !Array.isArray(data) ? (data as Data) : {};
}

/** A device speaks for itself: its words, a code of ours or none, and of its details those that mean something here. */
function errorOf({ error }: Extract<Res, { ok: false }>): SysError {
  const isOurs = error.code in ERRORS;
  const { outcome, takesKey } = dataOf(error.details);
  const details = outcome === "unknown" || outcome === "done" ? { outcome } : takesKey === false ? TAKES_NO_KEY : undefined;
  return new SysError(isOurs ? (error.code as ErrorCode) : 500, error.message.slice(0, 2000), details);
}
