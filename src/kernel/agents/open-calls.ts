// Calls of agents that are carried out, so that stopping a run ends them and says what could not be ended. A call that its
// process merely lost sight of goes on: a new life of the process asks after it.

import { SysError } from "../../lib/sys-error.ts";
import { STOPPED, type SysCall } from "../../process/kernel-port.ts";
import { earliest, type Part } from "../part.ts";
import type { Store } from "../store.ts";

/** What goes on although its run was stopped, and why. */
export type StillRunning = { target: string; command: string; sessionId?: string; why: string };

export type CallAbout = Pick<SysCall, "runId" | "callId"> & { pid: string; target: string; command: string };

export type Open = { about: CallAbout; abort: AbortController };
type Waiter = { isOver: () => boolean; dueAt: number; end: () => void };

/** A device ends a command within two seconds; whoever has not answered by then may not have. */
const STOP_MS = 2_500;

export class OpenCalls implements Part {
  readonly #store: Store;
  readonly #open = new Set<Open>();
  /** Of those that were stopped and whose end nobody knows, by process: of its last run. */
  readonly #unknown = new Map<string, { runId: string; calls: StillRunning[] }>();
  readonly #waiting = new Set<Waiter>();

  constructor(store: Store) {
    this.#store = store;
  }

  async run<T>(about: CallAbout, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const open: Open = { about, abort: new AbortController() };
    const follow = () => open.abort.abort(signal.reason);
    if (signal.aborted) follow();
    else signal.addEventListener("abort", follow, { once: true });
    this.#open.add(open);
    try {
      return await work(open.abort.signal);
    } catch (error) {
      if (open.abort.signal.reason === STOPPED && isUnknown(error)) this.#noted(about, error.message);
      throw error;
    } finally {
      signal.removeEventListener("abort", follow);
      this.#open.delete(open);
      this.#look();
    }
  }

  /** Those of a process that are under way: of a run, or all. */
  of(pid: string, runId?: string): Open[] {
    return [...this.#open].filter(({ about }) => about.pid === pid && (runId === undefined || about.runId === runId));
  }

  /** Ends calls of a process, and waits until they have. Those that may go on are told, also those of the run that ended just before. */
  async stop(pid: string, calls: readonly Open[], runId?: string): Promise<StillRunning[]> {
    for (const { abort } of calls) abort.abort(STOPPED);
    const left = () => calls.filter((open) => this.#open.has(open));
    if (left().length > 0) await this.#until(() => left().length === 0);
    const noted = this.#unknown.get(pid);
    const unknown = noted !== undefined && (runId === undefined || noted.runId === runId) ? noted.calls : [];
    this.#unknown.delete(pid);
    const silent = left().map(({ about: { target, command } }) => ({ target, command, why: `${target} has not answered that it ended` }));
    return [...unknown, ...silent];
  }

  /** What comes of some work, or where that takes too long what is said then. */
  async within<T>(work: Promise<T>, late: T): Promise<T> {
    let done: { value: T } | null = null;
    const ended = work.then((value) => {
      done = { value };
      this.#look();
    });
    await Promise.race([ended, this.#until(() => done !== null)]);
    return (done as { value: T } | null)?.value ?? late;
  }

  woke(now: number): void {
    for (const waiter of this.#waiting) if (waiter.dueAt <= now) waiter.end();
  }

  nextDueAt(): number | null {
    return earliest([...this.#waiting].map(({ dueAt }) => dueAt));
  }

  #look(): void {
    for (const waiter of this.#waiting) if (waiter.isOver()) waiter.end();
  }

  #noted({ pid, runId, target, command }: CallAbout, why: string): void {
    const known = this.#unknown.get(pid);
    const others = known?.runId === runId ? known.calls : [];
    this.#unknown.set(pid, { runId, calls: [...others, { target, command, why }] });
  }

  #until(isOver: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const dueAt = this.#store.reads.now + STOP_MS;
      const waiter: Waiter = {
        isOver,
        dueAt,
        end: () => {
          this.#waiting.delete(waiter);
          resolve();
        },
      };
      this.#waiting.add(waiter);
      this.#store.wakeBy(dueAt);
    });
  }
}

export function isUnknown(error: unknown): error is SysError {
  return error instanceof SysError && (error.details as { outcome?: unknown } | undefined)?.outcome === "unknown";
}
