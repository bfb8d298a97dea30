// Delivers the events of a process to the kernel, in order, and retries until the kernel has received them. Undelivered events
// stay on disk. The waits between retries grow; about an hour after the last event it stops retrying until process and
// kernel next exchange a call. The schedule follows from the rows, so it ends even if memory is lost repeatedly.

import type { AnswerPiece, ProcessEvent } from "../protocol/signals.ts";
import type { Events } from "./rows/events.ts";
import type { ProcessPorts } from "./kernel-port.ts";

const PAGE = 200;
/** The shortest wait before a retry. Later waits are as long as the last event is old. */
const RETRY_MS = 5_000;
/** A failure later than this after the last event schedules no further retry. */
const RETRY_FOR_MS = 60 * 60_000;

/** What could not be delivered to the kernel; `nextTryAt` is null if the next retry waits for a call between process and kernel. */
export type DeliveryFailure = { error: string; nextTryAt: number | null };

export class EventDelivery {
  readonly #ports: ProcessPorts;
  readonly #events: () => Events;
  readonly #onChange: () => void;
  /** The last event the kernel has received. Until the kernel was asked, the last event in the table. */
  #deliveredSeq: number | null = null;
  /** Deliveries that wait until the kernel has received everything before them; null if nothing has to wait. */
  #pending: (() => void)[] | null = null;
  #undelivered: DeliveryFailure | null = null;
  #caughtUp: Promise<void> = Promise.resolve();
  /** Catch-up rounds that are running or waiting. */
  #roundCount = 0;
  #isClosed = false;

  /** `onChange` is called after each successful or failed delivery. */
  constructor(ports: ProcessPorts, events: () => Events, onChange: () => void) {
    this.#ports = ports;
    this.#events = events;
    this.#onChange = onChange;
  }

  emit(events: readonly ProcessEvent[]): void {
    if (this.#undelivered !== null && this.#pending === null) return this.#retrySoon();
    this.#deliverInOrder(() => this.#send(events));
  }

  /** Pieces of an answer are lost with their instance: the next one calls the model again. */
  stream(piece: AnswerPiece): void {
    if (this.#undelivered !== null && this.#pending === null) return;
    this.#deliverInOrder(() => this.#isClosed || this.#ports.kernel.stream(piece));
  }

  /** Delivers what the kernel has not received, from this instance or an earlier one. Resolves after one attempt. */
  catchUp(): Promise<void> {
    this.#roundCount++;
    this.#pending ??= [];
    this.#deliveredSeq ??= this.#events().lastSeq;
    return (this.#caughtUp = this.#caughtUp.then(() => this.#catchUp()));
  }

  /** The kernel has made a call, so it can probably receive events again. */
  onKernelCall(): void {
    if (this.#undelivered !== null && this.#roundCount === 0) void this.catchUp();
  }

  onWake(now: number): void {
    if ((this.dueAt ?? Infinity) <= now) void this.catchUp();
  }

  close(): void {
    this.#isClosed = true;
  }

  get caughtUp(): Promise<void> {
    return this.#caughtUp;
  }

  /** When the next retry is due; null also while one is running. */
  get dueAt(): number | null {
    return this.#roundCount > 0 ? null : (this.#undelivered?.nextTryAt ?? null);
  }

  get undelivered(): DeliveryFailure | null {
    return this.#undelivered;
  }

  get isCatchingUp(): boolean {
    return this.#roundCount > 0;
  }

  /** Whether an event of this instance is being delivered. A kernel that does not answer is waited for only so long. */
  get isDelivering(): boolean {
    return this.#undelivered === null && this.#events().lastSeq > (this.#deliveredSeq ?? 0) && this.#msSinceLastEvent() < RETRY_FOR_MS;
  }

  #deliverInOrder(deliver: () => void): void {
    if (this.#pending !== null) this.#pending.push(deliver);
    else deliver();
  }

  #send(events: readonly ProcessEvent[]): void {
    const seq = events.at(-1)?.seq ?? 0;
    const markDelivered = () => {
      this.#deliveredSeq = Math.max(this.#deliveredSeq ?? 0, seq);
      this.#onChange();
    };
    try {
      const sent = this.#ports.kernel.emit(events);
      if (sent instanceof Promise) void sent.then(markDelivered, (error: unknown) => this.#recordFailure(error));
      else markDelivered();
    } catch (error) {
      this.#recordFailure(error);
    }
  }

  async #catchUp(): Promise<void> {
    const { kernel, sql } = this.#ports;
    const before = this.#undelivered;
    try {
      const until = this.#events().lastSeq;
      await sql.waitUntilDurable();
      let delivered = await kernel.lastReceivedSeq();
      while (delivered < until && !this.#isClosed) {
        // Events that were pruned cannot be delivered; those after them still can.
        const kept = this.#events().listStoredAfter(delivered, PAGE);
        const events = kept.filter(({ seq }) => seq <= until);
        if (events.length === 0) break;
        await kernel.emit(events);
        delivered = events.at(-1)!.seq;
      }
      // The next instance delivers later events, after the rest of these.
      if (this.#isClosed && delivered < until) this.#pending = [];
      this.#deliveredSeq = Math.max(this.#deliveredSeq ?? 0, until);
      this.#undelivered = null;
      if (before?.nextTryAt === null) this.#ports.log("delivered the events that had been given up", { error: before.error });
    } catch (error) {
      if (!this.#isClosed) this.#recordFailure(error);
    }
    if (--this.#roundCount === 0) this.#deliverPending();
    this.#onChange();
  }

  /** Runs the deliveries that waited. If the kernel cannot receive them, they are on disk. */
  #deliverPending(): void {
    const pending = this.#pending ?? [];
    this.#pending = null;
    for (const deliver of pending) if (this.#undelivered === null) deliver();
  }

  /** For example, the kernel's disk is full or the kernel is unreachable. */
  #recordFailure(error: unknown): void {
    if (this.#isClosed) return;
    const before = this.#undelivered;
    const ageMs = this.#msSinceLastEvent();
    const nextTryAt = ageMs >= RETRY_FOR_MS ? null : this.#ports.now() + Math.max(RETRY_MS, ageMs);
    this.#undelivered = { error: String(error), nextTryAt };
    if (before === null) this.#ports.log("events could not be delivered to the kernel", { error: String(error) });
    if (nextTryAt === null && before?.nextTryAt !== null)
      this.#ports.log("gave up delivering events until the kernel's next call", { error: String(error) });
    this.#onChange();
  }

  /** Time since the last event. */
  #msSinceLastEvent(): number {
    return Math.max(0, this.#ports.now() - this.#events().lastAt);
  }

  /** A new event is a reason to retry soon. */
  #retrySoon(): void {
    const { nextTryAt, ...undelivered } = this.#undelivered!;
    this.#undelivered = { ...undelivered, nextTryAt: Math.min(nextTryAt ?? Infinity, this.#ports.now() + RETRY_MS) };
    this.#onChange();
  }
}
