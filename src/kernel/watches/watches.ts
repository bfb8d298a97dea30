// Delivers matched signals to the processes that watch for them, in order, until each has its message. What was matched is a row
// (match.ts), so a restart continues here. Each process has a queue of its own, so one that does not answer delays no other; a few
// processes of each user are told at once, in the user's share.

import { SysError } from "../../lib/sys-error.ts";
import { StorageError } from "../../ports/sql.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ProcessEvent } from "../../protocol/signals.ts";
import { makeUserCaller } from "../agents/process-caller.ts";
import { toSysError } from "../failure.ts";
import type { WriteContext } from "../context.ts";
import type { Shares } from "../fairness/shares.ts";
import type { Gate } from "../gate.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { SignalDelivery } from "../nouns/signal-watches.ts";
import { earliestOf, type Part } from "../part.ts";
import type { Store } from "../store.ts";
import { describeSignal, failDelivery, matchWatches } from "./match.ts";

/** Sends a message to a process; repeated with the same run id it is the same message. */
export type SendOnce = (caller: Caller, pid: string, message: { text: string; runId: string; reason: "signal.watch" }) => Promise<void>;

/** Of one user. */
const PROCESSES_AT_ONCE = 4;
const RETRY_MS = 5_000;
/** If the gateway is lost during a delivery, it is woken again after this; only a host that does not keep it running needs that. */
const UNDER_WAY_MS = 30_000;
/** How long deliveries are retried while storage or the process cannot be reached. */
const RETRY_FOR_MS = 60 * 60 * 1000;
/** Rough kernel time to deliver a signal. */
const DELIVERY_MS = 2;

/** A process that has to be told of something. `retryAt`: nothing is delivered before. */
type Queue = { readonly uid: number; readonly pid: string; isActive: boolean; retryAt: number };

export class Watches implements Part {
  readonly #store: Store;
  readonly #gate: Gate;
  readonly #shares: Shares;
  readonly #sendOnce: SendOnce;
  /** By user and process, in the order in which they are served. */
  readonly #queues = new Map<number, Map<string, Queue>>();

  constructor(store: Store, { gate, shares, sendOnce }: { gate: Gate; shares: Shares; sendOnce: SendOnce }) {
    this.#store = store;
    this.#gate = gate;
    this.#shares = shares;
    this.#sendOnce = sendOnce;
  }

  /** Runs in the transaction that records the event. */
  onEvent(nouns: WriteContext, process: ProcessRow, event: ProcessEvent): void {
    const { uid } = process;
    const { clock } = this.#store.ports;
    const from = clock.elapsed();
    const pids = matchWatches(nouns, process, event);
    if (pids.size === 0) return;
    this.#shares.charge(uid, clock.elapsed() - from);
    nouns.wakeBy(nouns.now + UNDER_WAY_MS);
    nouns.after(() => {
      for (const pid of pids) this.#addQueue(uid, pid);
      this.#deliverDue(uid);
    });
  }

  begin(): void {
    this.#addWaiting();
    this.onWake(this.#store.reads.now);
  }

  /** The batch may have held the end of deliveries. */
  onRollback(): void {
    this.#addWaiting();
    const retryAt = this.#store.reads.now + RETRY_MS;
    for (const queue of this.#listQueues()) queue.retryAt = retryAt;
  }

  onWake(now: number): void {
    // The clock was set back.
    for (const queue of this.#listQueues()) if (queue.retryAt > now + RETRY_MS) queue.retryAt = 0;
    for (const uid of this.#queues.keys()) this.#deliverDue(uid);
  }

  nextDueAt(): number | null {
    const { now } = this.#store.reads;
    // The end of each delivery starts those that have to wait for it.
    return earliestOf(this.#listQueues().map(({ retryAt, isActive }) => (isActive || retryAt <= now ? now + UNDER_WAY_MS : retryAt)));
  }

  #addWaiting(): void {
    for (const { uid, pid } of this.#store.reads.signalWatches.listWaitingProcesses()) this.#addQueue(uid, pid);
  }

  #addQueue(uid: number, pid: string): void {
    const queues = this.#queues.get(uid) ?? new Map<string, Queue>();
    this.#queues.set(uid, queues);
    if (!queues.has(pid)) queues.set(pid, { uid, pid, isActive: false, retryAt: 0 });
  }

  #listQueues(): Queue[] {
    return [...this.#queues.values()].flatMap((queues) => [...queues.values()]);
  }

  /** Starts as many deliveries of a user as may run at once. */
  #deliverDue(uid: number): void {
    const { now, signalWatches } = this.#store.reads;
    const queues = this.#queues.get(uid) ?? new Map<string, Queue>();
    let active = [...queues.values()].filter(({ isActive }) => isActive).length;
    for (const queue of queues.values()) {
      if (active === PROCESSES_AT_ONCE) return;
      if (queue.isActive || queue.retryAt > now) continue;
      const delivery = signalWatches.findDelivery(uid, queue.pid);
      if (delivery === undefined) {
        queues.delete(queue.pid);
        continue;
      }
      active++;
      void this.#deliverFirst(queue, delivery);
    }
    if (queues.size === 0) this.#queues.delete(uid);
  }

  /** The next one to the same process comes after those that wait for others. */
  async #deliverFirst(queue: Queue, delivery: SignalDelivery): Promise<void> {
    const { uid, pid } = queue;
    queue.isActive = true;
    try {
      await this.#shares.waitForTurn(uid, DELIVERY_MS);
      await this.#deliver(delivery);
      queue.retryAt = 0;
    } catch (error) {
      queue.retryAt = this.#store.reads.now + RETRY_MS;
      if (!isTemporary(error)) this.#store.ports.log.error("a signal could not be delivered to a process", { pid, error: String(error) });
    }
    queue.isActive = false;
    const queues = this.#queues.get(uid);
    queues?.delete(pid);
    queues?.set(pid, queue);
    this.#deliverDue(uid);
    this.#store.wakeBy(this.nextDueAt());
  }

  /** Resolves once the process has its message, or will never get it. Fails if that must be tried again. */
  async #deliver(delivery: SignalDelivery): Promise<void> {
    const { watch, runId, matchedAt } = delivery;
    const { uid, pid } = watch;
    const { reads } = this.#store;
    try {
      const caller = makeUserCaller(reads, uid);
      this.#gate.authorize(caller, "proc.send");
      await this.#sendOnce(caller, pid, { text: describeSignal(delivery), runId, reason: "signal.watch" });
    } catch (error) {
      if (isTemporary(error) && reads.now - matchedAt < RETRY_FOR_MS) throw error;
      return this.#recordFailure(delivery, error);
    }
    await this.#store.commit(({ signalWatches, emit, after }) => {
      if (signalWatches.endDelivery(delivery)) after(() => emit.announceChanges(uid, ["watches"]));
    });
  }

  #recordFailure(delivery: SignalDelivery, error: unknown): Promise<void> {
    const { ports } = this.#store;
    const { uid } = delivery.watch;
    const { message } = toSysError(error, () => ports.log.reportIncident(ports.crypto.uuid(), { call: "signal.watch", uid }, error));
    return this.#store.commit((nouns) => {
      // Read again: it may have been replaced, or have failed, while this was tried.
      const present = nouns.signalWatches.find(delivery.watch.rowId);
      if (present !== undefined) failDelivery(nouns, present, message);
      nouns.signalWatches.endDelivery(delivery);
    });
  }
}

function isTemporary(error: unknown): boolean {
  return error instanceof StorageError || (error instanceof SysError && (error.code === 503 || error.code === 507));
}
