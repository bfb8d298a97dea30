// Queues calls that take long or have large answers. A few of each kind run at once per user; the next starts when one has been
// answered, but none for a connection that has not read what it was sent. Expensive calls are also limited per second. If too many
// calls wait already, a call is refused with 429 and the time after which to retry.

import { fail, SysError } from "../../lib/sys-error.ts";
import type { CallAnswer } from "../gate.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { Syscall } from "../calls/define.ts";
import type { Part } from "../part.ts";
import { checkStillAllowed } from "../run.ts";
import type { Store } from "../store.ts";
import type { Shares } from "./shares.ts";

type CallKind = Pick<Syscall, "name" | "atOnce" | "isExpensive">;
type QueuedCall = { connectionId: string; start(): void };
/** `unread`: connections of queued calls that have not read what they were sent. Calls of the user's other connections overtake them. */
type Lane = { uid: number; kind: CallKind; running: number; waiting: QueuedCall[]; unread: Set<string> };
/** How many expensive calls of a user could start immediately at the time `at`. */
type Allowance = { left: number; at: number };

export function usesLane({ atOnce, isExpensive }: CallKind): boolean {
  return atOnce !== undefined || isExpensive === true;
}

export class Lanes implements Part {
  readonly #store: Store;
  readonly #shares: Shares;
  readonly #lanes = new Map<string, Lane>();
  readonly #allowances = new Map<number, Allowance>();
  /** Lanes whose next call waits for its user's allowance. */
  readonly #due = new Map<Lane, number>();
  /** Callbacks for when a peer has read what it was sent, or has disconnected. */
  readonly #onDrained = new Map<string, (() => void)[]>();

  constructor(store: Store, shares: Shares) {
    this.#store = store;
    this.#shares = shares;
  }

  /** Runs the call once its lane has room. The next call of the lane starts after the answer has been sent. */
  async run(kind: CallKind, caller: Caller, signal: AbortSignal, work: () => Promise<CallAnswer>): Promise<CallAnswer> {
    if (!usesLane(kind)) return work();
    const entered = this.#enter(kind, caller, signal);
    const leave = entered instanceof Promise ? await entered : entered;
    const { clock } = this.#store.ports;
    const from = clock.elapsed();
    try {
      if (entered instanceof Promise) checkStillAllowed(this.#store.reads, kind, caller);
      const answer = await work();
      return { ...answer, after: [...answer.after, leave] };
    } catch (error) {
      leave();
      throw error;
    } finally {
      // Part of this time was spent waiting for the disk or for other work, and how much is unknown, so the charge is limited.
      this.#shares.charge(caller.uid, Math.min(clock.elapsed() - from, CHARGE_MS_MAX) / concurrencyOf(kind));
    }
  }

  /** Returns, once the call may start, the function that leaves the lane. Fails with 429, or if the signal aborts the wait. */
  #enter(
    kind: CallKind,
    { uid, connectionId }: Pick<Caller, "uid" | "connectionId">,
    signal: AbortSignal,
  ): Promise<() => void> | (() => void) {
    const lane = this.#laneOf(uid, kind);
    const leave = this.#makeLeave(lane);
    const isFree = lane.waiting.length === 0 && lane.running < concurrencyOf(kind) && !this.#isFull(connectionId);
    if (isFree && this.#dueAt(lane) <= this.#now) {
      this.#countStart(lane);
      return leave;
    }
    if (lane.waiting.length >= waitingMax(kind)) this.#refuse(lane);
    return new Promise((resolve, reject) => {
      const queued: QueuedCall = {
        connectionId,
        start: () => {
          signal.removeEventListener("abort", abort);
          resolve(leave);
        },
      };
      const abort = () => {
        const hasPlace = !lane.waiting.includes(queued);
        lane.waiting = lane.waiting.filter((other) => other !== queued);
        // It already held a place and only waited for its user's share, so it must release the place itself.
        if (hasPlace) leave();
        reject(new SysError(503, "The call was cancelled before it started"));
      };
      signal.addEventListener("abort", abort, { once: true });
      lane.waiting.push(queued);
      this.#startQueuedCalls(lane);
    });
  }

  onWake(now: number): void {
    for (const [lane, dueAt] of this.#due) {
      if (dueAt > now) continue;
      this.#due.delete(lane);
      this.#startQueuedCalls(lane);
    }
  }

  nextDueAt(): number | null {
    return this.#due.size === 0 ? null : Math.min(...this.#due.values());
  }

  onSocketDrained(socketId: string): void {
    const callbacks = this.#onDrained.get(socketId);
    this.#onDrained.delete(socketId);
    for (const callback of callbacks ?? []) callback();
  }

  onSocketClosed(socketId: string): void {
    this.onSocketDrained(socketId);
  }

  get #now(): number {
    return this.#store.ports.clock.now();
  }

  /** Whether the peer has not read what it was sent. */
  #isFull(connectionId: string): boolean {
    return this.#store.ports.sockets.isFull(connectionId);
  }

  /** Starts the queued calls that may start now, and asks for a wake for the rest. */
  #startQueuedCalls(lane: Lane): void {
    while (lane.running < concurrencyOf(lane.kind)) {
      const at = lane.waiting.findIndex(({ connectionId }) => !this.#isFull(connectionId));
      if (at === -1) return this.#waitForDrain(lane);
      const dueAt = this.#dueAt(lane);
      if (dueAt > this.#now) {
        this.#due.set(lane, dueAt);
        return this.#store.wakeBy(dueAt);
      }
      this.#countStart(lane);
      const next = lane.waiting.splice(at, 1)[0]!;
      this.#shares.runOrQueue(lane.uid, () => next.start());
    }
  }

  #countStart(lane: Lane): void {
    lane.running++;
    if (lane.kind.isExpensive === true) this.#allowanceOf(lane.uid).left--;
  }

  #waitForDrain(lane: Lane): void {
    for (const { connectionId } of lane.waiting) {
      if (lane.unread.has(connectionId)) continue;
      lane.unread.add(connectionId);
      const callback = () => {
        lane.unread.delete(connectionId);
        this.#startQueuedCalls(lane);
      };
      this.#onDrained.set(connectionId, [...(this.#onDrained.get(connectionId) ?? []), callback]);
    }
  }

  #makeLeave(lane: Lane): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      lane.running--;
      this.#startQueuedCalls(lane);
      if (lane.running === 0 && lane.waiting.length === 0) this.#lanes.delete(laneKey(lane.uid, lane.kind));
    };
  }

  /** When the user's allowance permits the next call of the lane. */
  #dueAt({ uid, kind }: Lane): number {
    if (kind.isExpensive !== true) return 0;
    const { left, at } = this.#allowanceOf(uid);
    return left >= 1 ? at : Math.ceil(at + (1 - left) * EXPENSIVE_INTERVAL_MS);
  }

  #allowanceOf(uid: number): Allowance {
    const now = this.#now;
    const known = this.#allowances.get(uid) ?? { left: LIMITS.expensiveCallsAtOnce, at: now };
    // A clock that was set back neither adds to the allowance nor reduces it.
    known.left = Math.min(LIMITS.expensiveCallsAtOnce, known.left + Math.max(0, now - known.at) / EXPENSIVE_INTERVAL_MS);
    known.at = now;
    this.#allowances.set(uid, known);
    return known;
  }

  #refuse({ kind, waiting }: Lane): never {
    const retryAfterMs = kind.isExpensive === true ? waiting.length * EXPENSIVE_INTERVAL_MS : RETRY_MS;
    fail(
      429,
      `Too many at once: ${waiting.length} of your ${kind.name} calls are already waiting. Try again in ${Math.ceil(retryAfterMs / 1000)} s`,
      {
        retryAfterMs,
      },
    );
  }

  #laneOf(uid: number, kind: CallKind): Lane {
    const key = laneKey(uid, kind);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane = { uid, kind, running: 0, waiting: [], unread: new Set() };
    this.#lanes.set(key, lane);
    return lane;
  }
}

const EXPENSIVE_INTERVAL_MS = 1000 / LIMITS.expensiveCallsPerSecond;
const RETRY_MS = 1_000;
const CHARGE_MS_MAX = 20;

function laneKey(uid: number, { name }: CallKind): string {
  return `${uid} ${name}`;
}

/** As many calls may wait as a socket may have in flight; for expensive ones the limit is lower, as they would wait too long. */
function waitingMax({ isExpensive }: CallKind): number {
  return isExpensive === true ? LIMITS.expensiveCallsWaiting : LIMITS.inFlightPerSocket;
}

/** Expensive calls that do not declare `atOnce` run one at a time. */
function concurrencyOf({ atOnce = 1 }: CallKind): number {
  return atOnce;
}
