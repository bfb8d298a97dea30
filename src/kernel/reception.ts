// Connects sockets to the gate: admits them, decodes their frames, sends answers, and closes those that do not authenticate in time.
// Knows nothing about what a call does.

import { addressKey } from "../lib/address.ts";
import { SysError } from "../lib/sys-error.ts";
import { callsByName } from "./calls/table.ts";
import { toSysError } from "./failure.ts";
import type { CallAnswer, Gate } from "./gate.ts";
import type { Ports } from "../ports/ports.ts";
import type { Caller, Stranger } from "../protocol/caller.ts";
import { BODY } from "../protocol/signal-names.ts";
import { decodeFrame, type Req } from "../protocol/frames.ts";
import { LIMITS } from "../protocol/limits.ts";
import { FrameFlow } from "./fairness/frame-flow.ts";
import { WRONG_CREDENTIAL } from "./identity/login.ts";
import type { ConnectionReads } from "./nouns/connections.ts";
import type { Bodies } from "./files/bodies.ts";
import type { Part } from "./part.ts";
import type { DeviceRouter } from "./devices/device-router.ts";
import type { Store } from "./store.ts";
import type { Sharer, Shares } from "./fairness/shares.ts";

/** `until`: when it must have authenticated. `isClosing`: it was told to close, but the socket is still open and still counts. */
type OpenStranger = Stranger & { openedAt: number; until: number; isClosing: boolean };

/** A wake this late means that the gateway stalled; strangers then get a little more time, up to a maximum. */
const STALL_MS = 1_000;
const GRACE_MS = 2_000;
export const EXTRA_HANDSHAKE_MS_MAX = 8_000;

export class Reception implements Part {
  readonly #store: Store;
  readonly #ports: Ports;
  readonly #connections: ConnectionReads;
  readonly #gate: Gate;
  readonly #shares: Shares;
  readonly #deviceRouter: DeviceRouter;
  readonly #bodies: Bodies;
  readonly #flow: FrameFlow;
  readonly #strangers = new Map<string, OpenStranger>();
  readonly #strangersAt = new Map<string, number>();
  /** Requests that await something, by socket and id. Most sockets have none and so no entry. */
  readonly #inFlight = new Map<string, Map<string, AbortController>>();

  constructor(store: Store, gate: Gate, shares: Shares, deviceRouter: DeviceRouter, bodies: Bodies) {
    this.#store = store;
    this.#ports = store.ports;
    this.#connections = store.reads.connections;
    this.#gate = gate;
    this.#shares = shares;
    this.#deviceRouter = deviceRouter;
    this.#bodies = bodies;
    this.#flow = new FrameFlow(shares, store.ports.sockets, {
      sharerOf: (socketId) => this.#sharerOf(socketId),
      socketsOf: (sharer) => (typeof sharer === "number" ? this.#connections.idsOfUser(sharer) : []),
      handleFrame: (socketId, text) => this.#handleSafely(socketId, text),
    });
  }

  /** Called before a socket is opened: the reason to refuse it, or null. */
  findRefusal(address: string): string | null {
    if (this.#strangers.size >= LIMITS.strangers) return "Too many unauthenticated connections: try again in a few seconds";
    if ((this.#strangersAt.get(addressKey(address)) ?? 0) >= LIMITS.strangersPerAddress)
      return "Too many unauthenticated connections from your address: try again in a few seconds";
    return null;
  }

  onSocketOpened(socketId: string): void {
    const peer = this.#ports.sockets.peer(socketId);
    if (peer === undefined) return;
    this.#strangers.set(socketId, {
      origin: "stranger",
      connectionId: socketId,
      isClosing: false,
      until: peer.openedAt + LIMITS.handshakeMs,
      address: peer.address,
      openedAt: peer.openedAt,
    });
    const key = addressKey(peer.address);
    this.#strangersAt.set(key, (this.#strangersAt.get(key) ?? 0) + 1);
  }

  /** Aborts the requests that the peer was waiting for. */
  onSocketClosed(socketId: string): void {
    this.#forgetStranger(socketId);
    this.#abortRequests(socketId);
    this.#flow.onSocketClosed(socketId);
  }

  onSocketDrained(socketId: string): void {
    this.#flow.onSocketDrained(socketId);
  }

  /** A close frame that waited for a lost batch was never sent. */
  onRollback(): void {
    for (const stranger of this.#strangers.values()) stranger.isClosing = false;
  }

  isStranger(socketId: string): boolean {
    return this.#strangers.has(socketId);
  }

  onFrame(socketId: string, text: string): void {
    this.#flow.receive(socketId, text);
  }

  /** Nothing a peer sends may crash the gateway. */
  #handleSafely(socketId: string, text: string): void {
    try {
      this.#dispatchFrame(socketId, text);
    } catch (error) {
      this.#reportAndClose(socketId, error);
    }
  }

  /** The earliest handshake deadline of a stranger. */
  nextDueAt(): number | null {
    let first = Infinity;
    for (const { isClosing, until } of this.#strangers.values()) if (!isClosing && until < first) first = until;
    return first === Infinity ? null : first;
  }

  /** Closes strangers whose deadline has passed. */
  onWake(now: number): void {
    for (const [socketId, stranger] of this.#strangers) {
      if (stranger.isClosing || stranger.until > now) continue;
      // A gateway that stalled has not read the frames that arrived meanwhile: it reads them first.
      if (now - stranger.until > STALL_MS && now < stranger.openedAt + LIMITS.handshakeMs + EXTRA_HANDSHAKE_MS_MAX) {
        stranger.until = now + GRACE_MS;
        this.#store.wakeBy(stranger.until);
        continue;
      }
      stranger.isClosing = true;
      this.#abortRequests(socketId);
      this.#ports.meter.countDropped("handshake");
      this.#ports.sockets.close(socketId, 1008, "Not authenticated in time: call sys.connect first");
    }
  }

  #reportAndClose(socketId: string, error: unknown): void {
    this.#logIncident(socketId, "frame", error);
    this.#ports.sockets.close(socketId, 1011, "Internal error");
  }

  #dispatchFrame(socketId: string, text: string): void {
    const caller = this.#callerOf(socketId);
    // A socket without a caller has lost its identity and is being closed, so its frames are ignored.
    if (caller === undefined) return;
    if (caller.origin === "stranger" && isLonger(text, LIMITS.strangerFrameBytes)) {
      this.#ports.sockets.close(socketId, 1009, "Message too big");
      return;
    }
    const frame = decodeFrame(text);
    switch (frame.type) {
      case "req":
        return this.#handleRequest(socketId, caller, frame, text.length);
      case "refusal":
        this.#ports.meter.countDropped("malformed");
        return this.#sendResponse(socketId, frame.id, { ok: false, error: frame.error.toShape() });
      case "res":
        // Only devices receive requests from the gateway.
        if (caller.origin !== "driver") return this.#ports.meter.countDropped("unasked");
        return this.#deviceRouter.handleResult(socketId, frame);
      case "sig":
        if (frame.signal === BODY && caller.origin !== "stranger") return this.#bodies.handleSignal(socketId, frame.payload);
        if (caller.origin === "driver") return this.#deviceRouter.handleSignal(caller, frame);
        return this.#ports.meter.countDropped("signal");
    }
  }

  #callerOf(socketId: string): Caller | Stranger | undefined {
    const caller = this.#connections.caller(socketId);
    if (caller === undefined) {
      const stranger = this.#strangers.get(socketId);
      return stranger?.isClosing ? undefined : stranger;
    }
    if (
      caller.credential.kind === "token" &&
      caller.credential.expiresAt !== null &&
      caller.credential.expiresAt <= this.#ports.clock.now()
    ) {
      this.#ports.sockets.close(socketId, 1008, "Credential expired");
      return undefined;
    }
    return caller;
  }

  #handleRequest(socketId: string, caller: Caller | Stranger, frame: Req, chars: number): void {
    const startedAt = performance.now();
    const inFlight = this.#inFlight.get(socketId);
    try {
      if (inFlight?.has(frame.id)) throw new SysError(409, "A request with this id is in flight");
      if (inFlight !== undefined && inFlight.size >= LIMITS.inFlightPerSocket)
        throw new SysError(429, `Too many requests in flight: at most ${LIMITS.inFlightPerSocket} per socket`);
      const answer = this.#gate.runRequest(caller, frame, () => this.#trackRequest(socketId, frame.id));
      if (!(answer instanceof Promise)) return this.#answer(socketId, frame, answer, startedAt);
      if (callsByName.get(frame.call)?.when === "setup") this.#extendHandshake(socketId, answer);
      const release = this.#flow.holdFrame(socketId, chars);
      answer
        .then((settled) => this.#answerAndCharge(socketId, frame, settled, startedAt))
        .catch((error: unknown) => this.#answerFailure(socketId, frame, error, startedAt))
        .catch((error: unknown) => this.#reportAndClose(socketId, error))
        .finally(() => {
          this.#untrackRequest(socketId, frame.id);
          release();
        });
    } catch (error) {
      this.#answerFailure(socketId, frame, error, startedAt);
    }
  }

  /** A set-up call may wait for a model, so its stranger gets a later deadline; the usual one applies again once it is answered. */
  #extendHandshake(socketId: string, answer: Promise<unknown>): void {
    const stranger = this.#strangers.get(socketId);
    if (stranger === undefined) return;
    stranger.until = stranger.openedAt + LIMITS.setupCallMs;
    const restoreDeadline = () => {
      stranger.until = Math.max(stranger.openedAt + LIMITS.handshakeMs, this.#ports.clock.now());
      this.#store.wakeBy(stranger.until);
    };
    answer.then(restoreDeadline, restoreDeadline);
  }

  /** Serializing a large answer takes time, which is charged to the caller. */
  #answerAndCharge(socketId: string, frame: Req, answer: CallAnswer, startedAt: number): void {
    const sharer = this.#sharerOf(socketId);
    const from = this.#ports.clock.elapsed();
    this.#answer(socketId, frame, answer, startedAt);
    this.#shares.charge(sharer, this.#ports.clock.elapsed() - from);
  }

  #answer(socketId: string, frame: Req, answer: CallAnswer, startedAt: number): void {
    if (this.#strangers.has(socketId)) this.#admitIdentified(socketId);
    try {
      this.#sendResponse(socketId, frame.id, { ok: true, data: answer.data }, answer.isDurableElsewhere);
      this.#ports.meter.countCall(frame.call, 200, performance.now() - startedAt);
    } finally {
      for (const action of answer.after) action();
    }
  }

  /** If the call that just ran gave the socket an identity, it is no longer a stranger. */
  #admitIdentified(socketId: string): void {
    const caller = this.#connections.caller(socketId);
    if (caller === undefined) return;
    this.#forgetStranger(socketId);
    this.#ports.sockets.allowLargeFrames(socketId);
    this.#flow.onIdentified(socketId);
    if (caller.credential.kind === "token") this.#store.wakeBy(caller.credential.expiresAt);
  }

  #answerFailure(socketId: string, frame: Req, error: unknown, startedAt: number): void {
    const call = callsByName.has(frame.call) ? frame.call : "unknown";
    const sysError = toSysError(error, () => this.#logIncident(socketId, call, error));
    // The username is not logged: people type passwords there. Requests without a credential are not logged.
    if ((sysError.code === 401 && sysError.message === WRONG_CREDENTIAL) || sysError.code === 429)
      this.#ports.log.warn("refused", { call, status: sysError.code, address: this.#addressOf(socketId) });
    this.#ports.meter.countCall(call, sysError.code, performance.now() - startedAt);
    // "Outcome unknown" stays true if the batch is lost; "nothing was changed" would not.
    const isUnknown = (sysError.details as { outcome?: unknown } | undefined)?.outcome === "unknown";
    this.#sendResponse(socketId, frame.id, { ok: false, error: sysError.toShape() }, isUnknown);
  }

  /** The sharer whose share a socket uses: its user, or the address of a stranger. */
  #sharerOf(socketId: string): Sharer {
    return this.#connections.caller(socketId)?.uid ?? addressKey(this.#addressOf(socketId));
  }

  #addressOf(socketId: string): string {
    return this.#ports.sockets.peer(socketId)?.address ?? "gone";
  }

  #logIncident(socketId: string, call: string, error: unknown): string {
    const uid = this.#connections.caller(socketId)?.uid;
    const source = uid === undefined ? { call, address: this.#addressOf(socketId) } : { call, uid };
    return this.#ports.log.reportIncident(this.#ports.crypto.uuid(), source, error);
  }

  #sendResponse(
    socketId: string,
    id: string,
    outcome: { ok: true; data: unknown } | { ok: false; error: unknown },
    isDurableElsewhere = false,
  ): void {
    let text = JSON.stringify({ type: "res", id, ...outcome });
    if (isLonger(text, LIMITS.frameOutBytes)) {
      const error = new SysError(413, `Result too large: at most ${LIMITS.frameOutBytes} bytes`).toShape();
      text = JSON.stringify({ type: "res", id, ok: false, error });
    }
    this.#ports.sockets.send(socketId, text, id, isDurableElsewhere);
  }

  #abortRequests(socketId: string): void {
    const inFlight = this.#inFlight.get(socketId);
    this.#inFlight.delete(socketId);
    for (const controller of inFlight?.values() ?? []) controller.abort();
  }

  #trackRequest(socketId: string, id: string): AbortSignal {
    const controller = new AbortController();
    const inFlight = this.#inFlight.get(socketId) ?? new Map<string, AbortController>();
    this.#inFlight.set(socketId, inFlight.set(id, controller));
    return controller.signal;
  }

  #untrackRequest(socketId: string, id: string): void {
    const inFlight = this.#inFlight.get(socketId);
    if (inFlight?.delete(id) && inFlight.size === 0) this.#inFlight.delete(socketId);
  }

  /** Called when the socket has authenticated or closed. */
  #forgetStranger(socketId: string): void {
    const stranger = this.#strangers.get(socketId);
    if (stranger === undefined) return;
    this.#strangers.delete(socketId);
    const key = addressKey(stranger.address);
    const remaining = (this.#strangersAt.get(key) ?? 1) - 1;
    if (remaining === 0) this.#strangersAt.delete(key);
    else this.#strangersAt.set(key, remaining);
  }
}

// oxlint-disable-next-line no-control-regex -- these are the characters in question
const ASCII = /^[\x00-\x7f]*$/;

function isLonger(text: string, bytesMax: number): boolean {
  // Most text is ASCII, and checking that costs far less than encoding the text.
  if (text.length * 3 <= bytesMax || (text.length <= bytesMax && ASCII.test(text))) return false;
  return text.length > bytesMax || new TextEncoder().encode(text).length > bytesMax;
}
