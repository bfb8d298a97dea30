// Delivers matched signals to the processes that watch for them, in order, until each has its message. What was matched is a row
// (match.ts), so a restart continues here.

import { SysError } from "../../lib/sys-error.ts";
import { StorageError } from "../../ports/sql.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ProcessEvent } from "../../protocol/signals.ts";
import { makeUserCaller } from "../agents/process-caller.ts";
import { toSysError } from "../failure.ts";
import type { WriteContext } from "../context.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { SignalDelivery } from "../nouns/signal-watches.ts";
import type { Part } from "../part.ts";
import type { Store } from "../store.ts";
import { failWatch, matchWatches } from "./match.ts";

/** Sends a message to a process; repeated with the same run id it is the same message. */
export type SendOnce = (caller: Caller, pid: string, message: { text: string; runId: string; reason: "signal.watch" }) => Promise<void>;

const BATCH = 100;
const RETRY_MS = 5_000;
const UNDER_WAY_MS = 30_000;
/** How long deliveries are retried while storage or the process cannot be reached. */
const RETRY_FOR_MS = 60 * 60 * 1000;

export class Watches implements Part {
  readonly #store: Store;
  readonly #sendOnce: SendOnce;
  #isDelivering = false;
  /** Nothing is delivered before this time, because storage has failed. */
  #deliverAt = 0;

  constructor(store: Store, sendOnce: SendOnce) {
    this.#store = store;
    this.#sendOnce = sendOnce;
  }

  /** Runs in the transaction that records the event. */
  onEvent(nouns: WriteContext, process: ProcessRow, event: ProcessEvent): void {
    const isMatched = matchWatches(nouns, process, event);
    if (isMatched) nouns.after(() => void this.#deliverAll());
  }

  begin(): void {
    void this.#deliverAll();
  }

  onRollback(): void {
    this.#deliverAt = this.#store.reads.now + RETRY_MS;
  }

  onWake(now: number): void {
    // The clock was set back.
    if (this.#deliverAt > now + RETRY_MS) this.#deliverAt = 0;
    if ((this.nextDueAt() ?? Infinity) <= now) void this.#deliverAll();
  }

  nextDueAt(): number | null {
    // If the gateway is lost meanwhile, it is woken again; only Cloudflare needs that.
    if (this.#isDelivering) return this.#store.reads.now + UNDER_WAY_MS;
    const dueAt = this.#store.reads.signalWatches.nextDeliveryAt();
    return dueAt === null ? null : Math.max(dueAt, this.#deliverAt);
  }

  async #deliverAll(): Promise<void> {
    if (this.#isDelivering) return;
    if (this.#deliverAt > this.#store.reads.now) return this.#store.wakeBy(this.nextDueAt());
    this.#isDelivering = true;
    try {
      for (let due = this.#listDue(); due.length > 0; due = this.#listDue()) await this.#deliverBatch(due);
    } catch (error) {
      this.#store.ports.log.error("signals could not be delivered to processes that watch for them", { error: String(error) });
    } finally {
      this.#isDelivering = false;
      this.#store.wakeBy(this.nextDueAt() === null ? null : this.#store.reads.now + RETRY_MS);
    }
  }

  #listDue(): SignalDelivery[] {
    const { signalWatches, now } = this.#store.reads;
    return signalWatches.listDueDeliveries(now, BATCH);
  }

  /** In order for each process; after one that must wait, the others to the same process wait too. */
  async #deliverBatch(due: readonly SignalDelivery[]): Promise<void> {
    const waiting = new Set<string>();
    for (const delivery of due) if (!waiting.has(delivery.pid) && !(await this.#deliver(delivery))) waiting.add(delivery.pid);
  }

  /** Returns false if it must be tried again. */
  async #deliver(delivery: SignalDelivery): Promise<boolean> {
    const { pid, uid, runId, text, watchId, matchedAt } = delivery;
    const { reads, ports } = this.#store;
    try {
      await this.#sendOnce(makeUserCaller(reads, uid), pid, { text, runId, reason: "signal.watch" });
      await this.#store.commit(({ signalWatches, emit, after }) => {
        if (signalWatches.endDelivery(delivery)) after(() => emit.announceChanges(uid, ["watches"]));
      });
      return true;
    } catch (error) {
      const isTemporary = error instanceof StorageError || (error instanceof SysError && (error.code === 503 || error.code === 507));
      if (isTemporary && reads.now - matchedAt < RETRY_FOR_MS) {
        await this.#store.commit(({ signalWatches, now }) => signalWatches.postpone(pid, now + RETRY_MS));
        return false;
      }
      const { message } = toSysError(error, () => ports.log.reportIncident(ports.crypto.uuid(), { call: "signal.watch", uid }, error));
      await this.#store.commit((nouns) => {
        const watch = nouns.signalWatches.find(watchId);
        if (watch !== undefined) failWatch(nouns, watch, message);
        nouns.signalWatches.endDelivery(delivery);
      });
      return true;
    }
  }
}
