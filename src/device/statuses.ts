// What the daemon tells of commands that outlived the call they were started by: that they began, and how they ended. A
// signal is not answered, so what was sent shortly before a cut is sent again after it; the gateway counts it once.

import { randomUUID } from "node:crypto";
import type { Exit } from "../ports/shells.ts";
import { TIMED_OUT } from "../hardware/exit.ts";

export type ExecEvent = {
  eventId: string;
  sessionId: string;
  event: "started" | "finished" | "failed" | "timed_out";
  callId?: string;
  exitCode?: number;
  startedAt?: number;
  endedAt?: number;
};

type Running = { startedAt: number; isTold: boolean };
type Kept = { event: ExecEvent; sentAt: number | null };

const KEPT_MAX = 2_048;
/** What was sent longer than this before a cut was noticed has arrived. */
const ARRIVED_MS = 30_000;

export class Statuses {
  readonly #send: (event: ExecEvent) => boolean;
  readonly #running = new Map<string, Running>();
  #kept: Kept[] = [];

  /** `send` is false where nobody can be told now. */
  constructor(send: (event: ExecEvent) => boolean) {
    this.#send = send;
  }

  began(sessionId: string, done: Promise<Exit>): void {
    this.#running.set(sessionId, { startedAt: Date.now(), isTold: false });
    const ended = (exit: Exit) => this.#ended(sessionId, exit);
    done.then(ended, () => ended({ exitCode: 1, error: "The command could not be run" }));
  }

  /** The call it was started by was answered and it still runs. */
  outlived(sessionId: string, callId: string): void {
    const running = this.#running.get(sessionId);
    if (running === undefined || running.isTold) return;
    running.isTold = true;
    this.#tell({ eventId: randomUUID(), sessionId, event: "started", callId, startedAt: running.startedAt });
  }

  /** The line is gone, and what was sent last may be gone with it. */
  cut(): void {
    const since = Date.now() - ARRIVED_MS;
    this.#kept = this.#kept.filter(({ sentAt }) => sentAt === null || sentAt >= since);
    for (const kept of this.#kept) kept.sentAt = null;
  }

  flush(): void {
    for (const kept of this.#kept) if (kept.sentAt === null && this.#send(kept.event)) kept.sentAt = Date.now();
  }

  #ended(sessionId: string, { exitCode, error }: Exit): void {
    const running = this.#running.get(sessionId);
    this.#running.delete(sessionId);
    if (running?.isTold !== true) return;
    const { startedAt } = running;
    const event = exitCode === 0 ? "finished" : exitCode === TIMED_OUT && error !== undefined ? "timed_out" : "failed";
    this.#tell({ eventId: randomUUID(), sessionId, event, exitCode, startedAt, endedAt: Date.now() });
  }

  #tell(event: ExecEvent): void {
    const since = Date.now() - ARRIVED_MS;
    this.#kept = [...this.#kept.filter(({ sentAt }) => sentAt === null || sentAt >= since), { event, sentAt: null }].slice(-KEPT_MAX);
    // Behind the answer that names the session, so that the gateway knows it.
    setImmediate(() => this.flush());
  }
}
