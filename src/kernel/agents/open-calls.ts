// Calls of agents that are running, so that stopping a run ends them and reports those that could not be ended. A call whose process
// only restarted keeps running: the restarted process sends it again to get the outcome.

import { SysError } from "../../lib/sys-error.ts";
import { STOPPED, type SysCall } from "../../process/kernel-port.ts";
import { earliestOf, type Part } from "../part.ts";
import type { Store } from "../store.ts";

/** A call or command that may still run although its run was stopped, and why. */
export type StillRunning = { target: string; command: string; sessionId?: string; why: string };

export type CallInfo = Pick<SysCall, "runId" | "callId"> & { pid: string; target: string; command: string };

export type OpenCall = { about: CallInfo; abort: AbortController };
type Waiter = { isOver: () => boolean; dueAt: number; end: () => void };

/** A device ends a command within two seconds; without an answer by then, the command may still run. */
const STOP_MS = 2_500;

export class OpenCalls implements Part {
  readonly #store: Store;
  readonly #open = new Set<OpenCall>();
  /** Stopped calls with an unknown outcome, by process, of its last run. */
  readonly #unknown = new Map<string, { runId: string; calls: StillRunning[] }>();
  readonly #waiters = new Set<Waiter>();

  constructor(store: Store) {
    this.#store = store;
  }

  async run<T>(about: CallInfo, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const open: OpenCall = { about, abort: new AbortController() };
    const forwardAbort = () => open.abort.abort(signal.reason);
    if (signal.aborted) forwardAbort();
    else signal.addEventListener("abort", forwardAbort, { once: true });
    this.#open.add(open);
    try {
      return await work(open.abort.signal);
    } catch (error) {
      if (open.abort.signal.reason === STOPPED && isUnknownOutcome(error)) this.#recordUnknown(about, error.message);
      throw error;
    } finally {
      signal.removeEventListener("abort", forwardAbort);
      this.#open.delete(open);
      this.#checkWaiters();
    }
  }

  /** The running calls of a process: of one run, or all. */
  listByProcess(pid: string, runId?: string): OpenCall[] {
    return [...this.#open].filter(({ about }) => about.pid === pid && (runId === undefined || about.runId === runId));
  }

  /** Ends calls of a process and waits until they have ended. Returns those that may still run, including calls that ended just before. */
  async stop(pid: string, calls: readonly OpenCall[], runId?: string): Promise<StillRunning[]> {
    for (const { abort } of calls) abort.abort(STOPPED);
    const listOpen = () => calls.filter((open) => this.#open.has(open));
    if (listOpen().length > 0) await this.#waitUntil(() => listOpen().length === 0);
    const noted = this.#unknown.get(pid);
    const unknown = noted !== undefined && (runId === undefined || noted.runId === runId) ? noted.calls : [];
    this.#unknown.delete(pid);
    const unanswered = listOpen().map(({ about: { target, command } }) => ({
      target,
      command,
      why: `${target} has not confirmed that it ended`,
    }));
    return [...unknown, ...unanswered];
  }

  /** The result of some work, or `late` if it takes too long. */
  async waitWithTimeout<T>(work: Promise<T>, late: T): Promise<T> {
    let done: { value: T } | null = null;
    const ended = work.then((value) => {
      done = { value };
      this.#checkWaiters();
    });
    await Promise.race([ended, this.#waitUntil(() => done !== null)]);
    return (done as { value: T } | null)?.value ?? late;
  }

  onWake(now: number): void {
    for (const waiter of this.#waiters) if (waiter.dueAt <= now) waiter.end();
  }

  nextDueAt(): number | null {
    return earliestOf([...this.#waiters].map(({ dueAt }) => dueAt));
  }

  #checkWaiters(): void {
    for (const waiter of this.#waiters) if (waiter.isOver()) waiter.end();
  }

  #recordUnknown({ pid, runId, target, command }: CallInfo, why: string): void {
    const known = this.#unknown.get(pid);
    const others = known?.runId === runId ? known.calls : [];
    this.#unknown.set(pid, { runId, calls: [...others, { target, command, why }] });
  }

  #waitUntil(isOver: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const dueAt = this.#store.reads.now + STOP_MS;
      const waiter: Waiter = {
        isOver,
        dueAt,
        end: () => {
          this.#waiters.delete(waiter);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      this.#store.wakeBy(dueAt);
    });
  }
}

export function isUnknownOutcome(error: unknown): error is SysError {
  return error instanceof SysError && (error.details as { outcome?: unknown } | undefined)?.outcome === "unknown";
}
