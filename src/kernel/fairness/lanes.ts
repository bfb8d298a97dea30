// Calls that take long or answer much. A user has a few of each kind under way at once; the next begins when one of them has been
// answered, and none for a connection that has not taken what it was sent. Of those that are expensive, only so many begin in a second.
// Whoever asks for more than can be waited for is told when to come again.

import { fail, SysError } from "../../lib/sys-error.ts";
import type { Answer } from "../gate.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { Syscall } from "../calls/define.ts";
import type { Part } from "../part.ts";
import { mustStillMay } from "../run.ts";
import type { Store } from "../store.ts";
import type { Shares } from "./shares.ts";

type Kind = Pick<Syscall, "name" | "atOnce" | "isExpensive">;
type Waiting = { connectionId: string; begin(): void };
/** `unread`: connections of those who wait that have not taken what they were sent. Others of the same user go before them. */
type Lane = { uid: number; kind: Kind; underWay: number; waiting: Waiting[]; unread: Set<string> };
/** Of expensive calls: what may begin at once, as it was then. */
type Allowance = { left: number; at: number };

export function isLaned({ atOnce, isExpensive }: Kind): boolean {
  return atOnce !== undefined || isExpensive === true;
}

export class Lanes implements Part {
  readonly #store: Store;
  readonly #shares: Shares;
  readonly #lanes = new Map<string, Lane>();
  readonly #allowances = new Map<number, Allowance>();
  /** Lanes whose next call waits for its user's allowance. */
  readonly #due = new Map<Lane, number>();
  /** Callbacks for when a peer has read what it was sent, or is gone. */
  readonly #readers = new Map<string, (() => void)[]>();

  constructor(store: Store, shares: Shares) {
    this.#store = store;
    this.#shares = shares;
  }

  /** Does it when it is its turn. The next of its lane begins after its answer has been sent. */
  async run(kind: Kind, caller: Caller, signal: AbortSignal, work: () => Promise<Answer>): Promise<Answer> {
    if (!isLaned(kind)) return work();
    const entered = this.#enter(kind, caller, signal);
    const leave = entered instanceof Promise ? await entered : entered;
    const { clock } = this.#store.ports;
    const from = clock.elapsed();
    try {
      if (entered instanceof Promise) mustStillMay(this.#store.reads, kind, caller);
      const answer = await work();
      return { ...answer, after: [...answer.after, leave] };
    } catch (error) {
      leave();
      throw error;
    } finally {
      // Some of it was spent waiting, for a disk or for others: nobody knows how much.
      this.#shares.charge(caller.uid, Math.min(clock.elapsed() - from, CHARGE_MS_MAX) / atOnce(kind));
    }
  }

  /** When the call may begin, with what is to be done once it was answered. Fails with 429, or where the signal ends the wait. */
  #enter(kind: Kind, { uid, connectionId }: Pick<Caller, "uid" | "connectionId">, signal: AbortSignal): Promise<() => void> | (() => void) {
    const lane = this.#lane(uid, kind);
    const leave = this.#leaver(lane);
    const isFree = lane.waiting.length === 0 && lane.underWay < atOnce(kind) && !this.#isFull(connectionId);
    if (isFree && this.#dueAt(lane) <= this.#now) {
      this.#begin(lane);
      return leave;
    }
    if (lane.waiting.length >= waitingMax(kind)) this.#refuse(lane);
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        connectionId,
        begin: () => {
          signal.removeEventListener("abort", abort);
          resolve(leave);
        },
      };
      const abort = () => {
        const isNext = !lane.waiting.includes(one);
        lane.waiting = lane.waiting.filter((other) => other !== one);
        // It had its place and only waited for its user's turn: nobody else would give the place back.
        if (isNext) leave();
        reject(new SysError(503, "The caller went away before this began"));
      };
      signal.addEventListener("abort", abort, { once: true });
      lane.waiting.push(one);
      this.#go(lane);
    });
  }

  woke(now: number): void {
    for (const [lane, dueAt] of this.#due) {
      if (dueAt > now) continue;
      this.#due.delete(lane);
      this.#go(lane);
    }
  }

  nextDueAt(): number | null {
    return this.#due.size === 0 ? null : Math.min(...this.#due.values());
  }

  socketDrained(socketId: string): void {
    const readers = this.#readers.get(socketId);
    this.#readers.delete(socketId);
    for (const then of readers ?? []) then();
  }

  socketClosed(socketId: string): void {
    this.socketDrained(socketId);
  }

  get #now(): number {
    return this.#store.ports.clock.now();
  }

  /** Whether the peer has not read what it was sent. */
  #isFull(connectionId: string): boolean {
    return this.#store.ports.sockets.isFull(connectionId);
  }

  /** Begins what may begin now, and asks to be woken for the rest. */
  #go(lane: Lane): void {
    while (lane.underWay < atOnce(lane.kind)) {
      const at = lane.waiting.findIndex(({ connectionId }) => !this.#isFull(connectionId));
      if (at === -1) return this.#waitForReaders(lane);
      const dueAt = this.#dueAt(lane);
      if (dueAt > this.#now) {
        this.#due.set(lane, dueAt);
        return this.#store.wakeBy(dueAt);
      }
      this.#begin(lane);
      const next = lane.waiting.splice(at, 1)[0]!;
      this.#shares.take(lane.uid, () => next.begin());
    }
  }

  #begin(lane: Lane): void {
    lane.underWay++;
    if (lane.kind.isExpensive === true) this.#allowance(lane.uid).left--;
  }

  #waitForReaders(lane: Lane): void {
    for (const { connectionId } of lane.waiting) {
      if (lane.unread.has(connectionId)) continue;
      lane.unread.add(connectionId);
      const then = () => {
        lane.unread.delete(connectionId);
        this.#go(lane);
      };
      this.#readers.set(connectionId, [...(this.#readers.get(connectionId) ?? []), then]);
    }
  }

  #leaver(lane: Lane): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      lane.underWay--;
      this.#go(lane);
      if (lane.underWay === 0 && lane.waiting.length === 0) this.#lanes.delete(keyOf(lane.uid, lane.kind));
    };
  }

  /** When the next of the lane may begin as far as its user's allowance goes. */
  #dueAt({ uid, kind }: Lane): number {
    if (kind.isExpensive !== true) return 0;
    const { left, at } = this.#allowance(uid);
    return left >= 1 ? at : Math.ceil(at + (1 - left) * EVERY_MS);
  }

  #allowance(uid: number): Allowance {
    const now = this.#now;
    const known = this.#allowances.get(uid) ?? { left: LIMITS.expensiveCallsAtOnce, at: now };
    // A clock that was set back gives nothing, and takes nothing.
    known.left = Math.min(LIMITS.expensiveCallsAtOnce, known.left + Math.max(0, now - known.at) / EVERY_MS);
    known.at = now;
    this.#allowances.set(uid, known);
    return known;
  }

  #refuse({ kind, waiting }: Lane): never {
    const retryAfterMs = kind.isExpensive === true ? waiting.length * EVERY_MS : RETRY_MS;
    fail(
      429,
      `Too many at once: ${waiting.length} of your ${kind.name} calls wait already. Try again in ${Math.ceil(retryAfterMs / 1000)} s`,
      {
        retryAfterMs,
      },
    );
  }

  #lane(uid: number, kind: Kind): Lane {
    const key = keyOf(uid, kind);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane = { uid, kind, underWay: 0, waiting: [], unread: new Set() };
    this.#lanes.set(key, lane);
    return lane;
  }
}

const EVERY_MS = 1000 / LIMITS.expensiveCallsPerSecond;
const RETRY_MS = 1_000;
const CHARGE_MS_MAX = 20;

function keyOf(uid: number, { name }: Kind): string {
  return `${uid} ${name}`;
}

/** Clients may have as many under way as a socket takes; nobody waits for as many that are expensive. */
function waitingMax({ isExpensive }: Kind): number {
  return isExpensive === true ? LIMITS.expensiveCallsWaiting : LIMITS.inFlightPerSocket;
}

/** Expensive calls of which nothing else is said come one at a time. */
function atOnce({ atOnce = 1 }: Kind): number {
  return atOnce;
}
