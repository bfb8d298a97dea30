// Carries hardware calls to devices and their answers back. The device that was asked is the only one that may answer,
// once, while the route is open; anything else is dropped and counted. Memory may vanish while a call is under way: then
// the answer finds its way by the row alone.

import { allows } from "../lib/capability.ts";
import { ERRORS, type ErrorCode, fail, SysError } from "../lib/sys-error.ts";
import type { Ports } from "../ports/ports.ts";
import { type Caller, isRoot } from "../protocol/caller.ts";
import type { Res } from "../protocol/frames.ts";
import type { ReadContext, WriteContext } from "./context.ts";
import type { Route } from "./nouns/routes.ts";

type Means = {
  ports: Ports;
  reads: ReadContext;
  relaxed<T>(body: (nouns: WriteContext) => T): T;
  /** Asks for a wake by then. */
  wakeBy(dueAt: number): void;
};

type Data = Record<string, unknown>;
type Waiting = { resolve(data: Data): void; reject(error: SysError): void };

export const ROUTE_TTL_MS = 60_000;
const PROLONG_MS = 10_000;
const READS = new Set(["fs.read", "fs.search", "fs.download", "shell.list"]);

/** Where the device's end of a body is made; `heard` is to be called whenever something of it comes. */
type Join = (driverId: string, heard: () => void) => { args: Data; end(): void };

export class Routing {
  readonly #means: Means;
  /** Those that are waited for in this life of the kernel, by route. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(means: Means) {
    this.#means = means;
  }

  /** `args` without target. Rejects with what kept the call from being answered. `join` of a call that carries a body. */
  async forward(
    call: string,
    caller: Caller,
    requestId: string,
    deviceId: string,
    args: Data,
    signal: AbortSignal,
    join?: Join,
  ): Promise<Data> {
    const { ports } = this.#means;
    const driverId = this.#driverOf(call, caller, deviceId);
    const routeId = ports.crypto.uuid();
    const dueAt = ports.clock.now() + ROUTE_TTL_MS;
    const joint = join?.(driverId, this.#prolonging(routeId));
    const { connectionId: originId, uid } = caller;
    this.#means.relaxed(({ routes }) => routes.add({ routeId, call, deviceId, driverId, originId, requestId, uid, dueAt }));
    this.#means.wakeBy(dueAt);
    const answer = new Promise<Data>((resolve, reject) => this.#waiting.set(routeId, { resolve, reject }));
    const dropped = () => this.#drop(routeId, driverId);
    signal.addEventListener("abort", dropped, { once: true });
    ports.sockets.send(driverId, JSON.stringify({ type: "req", id: routeId, call, args: { ...args, ...joint?.args } }));
    try {
      return await answer;
    } finally {
      signal.removeEventListener("abort", dropped);
      joint?.end();
    }
  }

  /** A `res` from some socket. */
  answered(socketId: string, frame: Res): void {
    const route = this.#means.relaxed(({ routes }) => routes.take(frame.id, socketId));
    if (route === undefined) return this.#means.ports.meter.dropped("unasked");
    this.#settle(route, frame.ok ? { ok: true, data: this.#told(route, dataOf(frame.data)) } : { ok: false, error: errorOf(frame) });
  }

  /** The device's socket is gone, and nobody will ever answer. */
  driverGone(driverId: string): void {
    for (const route of this.#means.relaxed(({ routes }) => routes.takeOfDriver(driverId)))
      this.#settle(route, { ok: false, error: lost(route) });
  }

  /** Whoever asked is gone: the device is not told, and its answer finds no route. */
  originGone(originId: string): void {
    for (const { routeId } of this.#means.relaxed(({ routes }) => routes.takeOfOrigin(originId))) this.#waiting.delete(routeId);
  }

  nextDueAt(): number | null {
    return this.#means.reads.routes.nextDueAt();
  }

  woke(now: number): void {
    if ((this.nextDueAt() ?? Infinity) > now) return;
    for (const route of this.#means.relaxed(({ routes }) => routes.takeDue(now))) {
      const unknown = READS.has(route.call) ? "" : ". Whether it was carried out is not known";
      this.#settle(route, { ok: false, error: new SysError(504, `Syscall timed out: ${route.call} on ${route.deviceId}${unknown}`) });
    }
  }

  /** While something comes, nobody is late. */
  #prolonging(routeId: string): () => void {
    const { ports } = this.#means;
    let at = ports.clock.now();
    return () => {
      const now = ports.clock.now();
      if (now - at < PROLONG_MS) return;
      at = now;
      this.#means.relaxed(({ routes }) => routes.extend(routeId, now + ROUTE_TTL_MS));
    };
  }

  /** Who may use it, whether it is there, and whether it can do this: in this order, so that a stranger learns nothing. */
  #driverOf(call: string, caller: Caller, deviceId: string): string {
    const { devices } = this.#means.reads;
    if (!devices.mayUse(caller, deviceId)) fail(403, `Access denied to device: ${deviceId}`);
    const device = devices.get(deviceId);
    if (device === undefined || !device.online) fail(503, `Device offline: ${deviceId}`);
    if (!allows(devices.implementsOf(deviceId), call)) fail(400, `Device ${deviceId} does not implement ${call}`);
    return devices.driverOf(deviceId) ?? fail(503, `No active connection for device: ${deviceId}`);
  }

  /** A device knows its sessions but not whose they are; the gateway remembers who was told of which. */
  #told(route: Route, data: Data): Data {
    if (route.call === "shell.exec") this.#remember(route, data);
    if (route.call !== "shell.list") return data;
    const sessions = Array.isArray(data.sessions) ? data.sessions.map(dataOf) : [];
    return { sessions: sessions.filter((session) => isRoot(route) || this.#isOwn(route, session)) };
  }

  #isOwn({ deviceId, uid }: Route, { sessionId }: Data): boolean {
    const { shellSessions, now } = this.#means.reads;
    const own = typeof sessionId === "string" ? shellSessions.get(sessionId, now) : undefined;
    return own?.uid === uid && own.deviceId === deviceId;
  }

  #remember({ deviceId, uid }: Route, { sessionId }: Data): void {
    if (typeof sessionId !== "string" || sessionId.length > 128) return;
    this.#means.relaxed(({ shellSessions, now }) => shellSessions.heard({ sessionId, deviceId, uid }, now));
  }

  #drop(routeId: string, driverId: string): void {
    const waiting = this.#waiting.get(routeId);
    this.#waiting.delete(routeId);
    this.#means.relaxed(({ routes }) => routes.take(routeId, driverId));
    waiting?.reject(new SysError(503, "The caller went away"));
  }

  #settle({ routeId, originId, requestId }: Route, outcome: { ok: true; data: Data } | { ok: false; error: SysError }): void {
    const waiting = this.#waiting.get(routeId);
    this.#waiting.delete(routeId);
    if (waiting !== undefined) return outcome.ok ? waiting.resolve(outcome.data) : waiting.reject(outcome.error);
    // The kernel was put to sleep and woken since.
    const body = outcome.ok ? outcome : { ok: false, error: outcome.error.toShape() };
    this.#means.ports.sockets.send(originId, JSON.stringify({ type: "res", id: requestId, ...body }), requestId);
  }
}

function lost({ call, deviceId }: Route): SysError {
  if (READS.has(call)) return new SysError(503, `Device disconnected: ${deviceId}`);
  return new SysError(503, `Device disconnected: ${deviceId}. Whether the call was carried out is not known`, { outcome: "unknown" });
}

function dataOf(data: unknown): Data {
  return typeof data === "object" && data !== null && !Array.isArray(data) ? (data as Data) : {};
}

/** A device speaks for itself: its words, and a code of ours or none. */
function errorOf({ error }: Extract<Res, { ok: false }>): SysError {
  const isOurs = error.code in ERRORS;
  return new SysError(isOurs ? (error.code as ErrorCode) : 500, error.message.slice(0, 2000));
}
