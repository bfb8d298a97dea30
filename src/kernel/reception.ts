// Where sockets meet the gate: admits them, shares text into requests, answers, and shows out those that never say who
// they are. Knows nothing of what a call does.

import { addressKey } from "../lib/address.ts";
import { SysError } from "../lib/sys-error.ts";
import { callsByName } from "./calls/table.ts";
import { toSysError } from "./failure.ts";
import type { Answer, Gate } from "./gate.ts";
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

/** `leaving`: told to go, but its socket is still there and still counts. `until`: when its time is up. */
type Waiting = Stranger & { openedAt: number; until: number; leaving: boolean };

/** Woken so late, the gateway stood still; whoever waits has a little longer then, though not for ever. */
const STOOD_STILL_MS = 1_000;
const SPARED_MS = 2_000;
export const SPARED_MS_MAX = 8_000;

export class Reception implements Part {
  readonly #store: Store;
  readonly #ports: Ports;
  readonly #connections: ConnectionReads;
  readonly #gate: Gate;
  readonly #shares: Shares;
  readonly #deviceRouter: DeviceRouter;
  readonly #bodies: Bodies;
  readonly #flow: FrameFlow;
  readonly #strangers = new Map<string, Waiting>();
  readonly #strangersAt = new Map<string, number>();
  /** Requests that await something, by socket and id. Most sockets have none, so most have no entry. */
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
      sharerOf: (socketId) => this.#sharer(socketId),
      socketsOf: (sharer) => (typeof sharer === "number" ? this.#connections.ofUser(sharer) : []),
      handle: (socketId, text) => this.#handle(socketId, text),
    });
  }

  /** Before a socket is opened: the reason not to, or null. */
  refusal(address: string): string | null {
    if (this.#strangers.size >= LIMITS.strangers) return "Too many connections without identity: try again in a few seconds";
    if ((this.#strangersAt.get(addressKey(address)) ?? 0) >= LIMITS.strangersPerAddress)
      return "Too many connections without identity from your address: try again in a few seconds";
    return null;
  }

  opened(socketId: string): void {
    const peer = this.#ports.sockets.peer(socketId);
    if (peer === undefined) return;
    this.#strangers.set(socketId, {
      origin: "stranger",
      connectionId: socketId,
      leaving: false,
      until: peer.openedAt + LIMITS.handshakeMs,
      ...peer,
    });
    const key = addressKey(peer.address);
    this.#strangersAt.set(key, (this.#strangersAt.get(key) ?? 0) + 1);
  }

  /** Aborts what the socket's peer was waiting for. */
  socketClosed(socketId: string): void {
    this.#isKnown(socketId);
    this.#abort(socketId);
    this.#flow.closed(socketId);
  }

  socketDrained(socketId: string): void {
    this.#flow.drained(socketId);
  }

  /** A goodbye that waited for a lost batch was never said. */
  rolledBack(): void {
    for (const stranger of this.#strangers.values()) stranger.leaving = false;
  }

  isStranger(socketId: string): boolean {
    return this.#strangers.has(socketId);
  }

  received(socketId: string, text: string): void {
    this.#flow.received(socketId, text);
  }

  /** Nothing a peer sends may take the gateway down. */
  #handle(socketId: string, text: string): void {
    try {
      this.#receive(socketId, text);
    } catch (error) {
      this.#broken(socketId, error);
    }
  }

  /** The earliest moment at which a stranger's time is up. */
  nextDueAt(): number | null {
    let first = Infinity;
    for (const { leaving, until } of this.#strangers.values()) if (!leaving && until < first) first = until;
    return first === Infinity ? null : first;
  }

  /** Shows out those whose time is up. */
  woke(now: number): void {
    for (const [socketId, stranger] of this.#strangers) {
      if (stranger.leaving || stranger.until > now) continue;
      // A gateway that stood still has not heard what came meanwhile: it listens first.
      if (now - stranger.until > STOOD_STILL_MS && now < stranger.openedAt + LIMITS.handshakeMs + SPARED_MS_MAX) {
        stranger.until = now + SPARED_MS;
        this.#store.wakeBy(stranger.until);
        continue;
      }
      stranger.leaving = true;
      this.#abort(socketId);
      this.#ports.meter.dropped("handshake");
      this.#ports.sockets.close(socketId, 1008, "No identity in time: call sys.connect first");
    }
  }

  #broken(socketId: string, error: unknown): void {
    this.#incident(socketId, "frame", error);
    this.#ports.sockets.close(socketId, 1011, "Internal error");
  }

  #receive(socketId: string, text: string): void {
    const caller = this.#caller(socketId);
    // A socket without an entry has lost its identity and is on its way out: nothing it says counts any more.
    if (caller === undefined) return;
    if (caller.origin === "stranger" && isLonger(text, LIMITS.strangerFrameBytes)) {
      this.#ports.sockets.close(socketId, 1009, "Message too big");
      return;
    }
    const frame = decodeFrame(text);
    switch (frame.type) {
      case "req":
        return this.#request(socketId, caller, frame, text.length);
      case "refusal":
        this.#ports.meter.dropped("malformed");
        return this.#send(socketId, frame.id, { ok: false, error: frame.error.toShape() });
      case "res":
        // Only a device is ever asked something.
        if (caller.origin !== "driver") return this.#ports.meter.dropped("unasked");
        return this.#deviceRouter.answered(socketId, frame);
      case "sig":
        if (frame.signal === BODY && caller.origin !== "stranger") return this.#bodies.signalled(socketId, frame.payload);
        if (caller.origin === "driver") return this.#deviceRouter.signalled(caller, frame);
        return this.#ports.meter.dropped("signal");
    }
  }

  #caller(socketId: string): Caller | Stranger | undefined {
    const caller = this.#connections.caller(socketId);
    if (caller === undefined) {
      const stranger = this.#strangers.get(socketId);
      return stranger?.leaving ? undefined : stranger;
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

  #request(socketId: string, caller: Caller | Stranger, frame: Req, chars: number): void {
    const startedAt = performance.now();
    const waiting = this.#inFlight.get(socketId);
    try {
      if (waiting?.has(frame.id)) throw new SysError(409, "A request with this id is in flight");
      if (waiting !== undefined && waiting.size >= LIMITS.inFlightPerSocket)
        throw new SysError(429, `Too many requests in flight: at most ${LIMITS.inFlightPerSocket} per socket`);
      const answer = this.#gate.pass(caller, frame, () => this.#track(socketId, frame.id));
      if (!(answer instanceof Promise)) return this.#answer(socketId, frame, answer, startedAt);
      if (callsByName.get(frame.call)?.when === "setup") this.#letWait(socketId, answer);
      const ended = this.#flow.begun(socketId, chars);
      answer
        .then((late) => this.#answerLate(socketId, frame, late, startedAt))
        .catch((error: unknown) => this.#failure(socketId, frame, error, startedAt))
        .catch((error: unknown) => this.#broken(socketId, error))
        .finally(() => {
          this.#untrack(socketId, frame.id);
          ended();
        });
    } catch (error) {
      this.#failure(socketId, frame, error, startedAt);
    }
  }

  /** A stranger who sets up waits for a model, and not for being shown out; when the answer is there, its time counts again. */
  #letWait(socketId: string, answer: Promise<unknown>): void {
    const stranger = this.#strangers.get(socketId);
    if (stranger === undefined) return;
    stranger.until = stranger.openedAt + LIMITS.setupCallMs;
    const again = () => {
      stranger.until = Math.max(stranger.openedAt + LIMITS.handshakeMs, this.#ports.clock.now());
      this.#store.wakeBy(stranger.until);
    };
    answer.then(again, again);
  }

  /** Writing a large answer takes time, which counts for whoever asked. */
  #answerLate(socketId: string, frame: Req, answer: Answer, startedAt: number): void {
    const sharer = this.#sharer(socketId);
    const from = this.#ports.clock.elapsed();
    this.#answer(socketId, frame, answer, startedAt);
    this.#shares.charge(sharer, this.#ports.clock.elapsed() - from);
  }

  #answer(socketId: string, frame: Req, answer: Answer, startedAt: number): void {
    if (this.#strangers.has(socketId)) this.#welcome(socketId);
    try {
      this.#send(socketId, frame.id, { ok: true, data: answer.data }, answer.stays);
      this.#ports.meter.call(frame.call, 200, performance.now() - startedAt);
    } finally {
      for (const action of answer.after) action();
    }
  }

  /** If the call that was just carried out gave the socket an identity, it is a stranger no more. */
  #welcome(socketId: string): void {
    const caller = this.#connections.caller(socketId);
    if (caller === undefined) return;
    this.#isKnown(socketId);
    this.#ports.sockets.trust(socketId);
    this.#flow.identified(socketId);
    if (caller.credential.kind === "token") this.#store.wakeBy(caller.credential.expiresAt);
  }

  #failure(socketId: string, frame: Req, error: unknown, startedAt: number): void {
    const call = callsByName.has(frame.call) ? frame.call : "unknown";
    const known = toSysError(error, () => this.#incident(socketId, call, error));
    // The name is left out: people type passwords where names belong. Clients that show no credential get no line.
    if ((known.code === 401 && known.message === WRONG_CREDENTIAL) || known.code === 429)
      this.#ports.log.warn("refused", { call, status: known.code, address: this.#addressOf(socketId) });
    this.#ports.meter.call(call, known.code, performance.now() - startedAt);
    // That nobody knows stays true if the batch is lost; that nothing was changed would not be.
    const isUnknown = (known.details as { outcome?: unknown } | undefined)?.outcome === "unknown";
    this.#send(socketId, frame.id, { ok: false, error: known.toShape() }, isUnknown);
  }

  /** Whose share of the kernel a socket uses. */
  #sharer(socketId: string): Sharer {
    return this.#connections.caller(socketId)?.uid ?? addressKey(this.#addressOf(socketId));
  }

  #addressOf(socketId: string): string {
    return this.#ports.sockets.peer(socketId)?.address ?? "gone";
  }

  #incident(socketId: string, call: string, error: unknown): string {
    const uid = this.#connections.caller(socketId)?.uid;
    const source = uid === undefined ? { call, address: this.#addressOf(socketId) } : { call, uid };
    return this.#ports.log.incident(this.#ports.crypto.uuid(), source, error);
  }

  #send(socketId: string, id: string, outcome: { ok: true; data: unknown } | { ok: false; error: unknown }, stays = false): void {
    let text = JSON.stringify({ type: "res", id, ...outcome });
    if (isLonger(text, LIMITS.frameOutBytes)) {
      const error = new SysError(413, `Result too large: at most ${LIMITS.frameOutBytes} bytes`).toShape();
      text = JSON.stringify({ type: "res", id, ok: false, error });
    }
    this.#ports.sockets.send(socketId, text, id, stays);
  }

  #abort(socketId: string): void {
    const waiting = this.#inFlight.get(socketId);
    this.#inFlight.delete(socketId);
    for (const controller of waiting?.values() ?? []) controller.abort();
  }

  #track(socketId: string, id: string): AbortSignal {
    const controller = new AbortController();
    const waiting = this.#inFlight.get(socketId) ?? new Map<string, AbortController>();
    this.#inFlight.set(socketId, waiting.set(id, controller));
    return controller.signal;
  }

  #untrack(socketId: string, id: string): void {
    const waiting = this.#inFlight.get(socketId);
    if (waiting?.delete(id) && waiting.size === 0) this.#inFlight.delete(socketId);
  }

  /** No longer a stranger, or gone. */
  #isKnown(socketId: string): void {
    const stranger = this.#strangers.get(socketId);
    if (stranger === undefined) return;
    this.#strangers.delete(socketId);
    const key = addressKey(stranger.address);
    const left = (this.#strangersAt.get(key) ?? 1) - 1;
    if (left === 0) this.#strangersAt.delete(key);
    else this.#strangersAt.set(key, left);
  }
}

// oxlint-disable-next-line no-control-regex -- these are the characters in question
const ASCII = /^[\x00-\x7f]*$/;

function isLonger(text: string, bytesMax: number): boolean {
  // Most text has a byte for each character, and to find that out costs far less than to encode it.
  if (text.length * 3 <= bytesMax || (text.length <= bytesMax && ASCII.test(text))) return false;
  return text.length > bytesMax || new TextEncoder().encode(text).length > bytesMax;
}
