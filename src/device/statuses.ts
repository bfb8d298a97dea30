// Reports commands that outlived the call that started them: their start and their end. Signals are not acknowledged, so signals
// sent shortly before a disconnect are sent again after it; the gateway counts each once.

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

type TrackedCommand = { startedAt: number; isReported: boolean };
type PendingEvent = { event: ExecEvent; sentAt: number | null };

const PENDING_MAX = 2_048;
/** A signal sent longer than this before a disconnect was noticed has arrived. */
const ARRIVED_MS = 30_000;

export class CommandStatusReporter {
  readonly #send: (event: ExecEvent) => boolean;
  readonly #running = new Map<string, TrackedCommand>();
  #pending: PendingEvent[] = [];

  /** `send` returns false while disconnected. */
  constructor(send: (event: ExecEvent) => boolean) {
    this.#send = send;
  }

  track(sessionId: string, done: Promise<Exit>): void {
    this.#running.set(sessionId, { startedAt: Date.now(), isReported: false });
    const finish = (exit: Exit) => this.#finish(sessionId, exit);
    done.then(finish, () => finish({ exitCode: 1, error: "The command could not be run" }));
  }

  /** The call that started it was answered, and it still runs. */
  reportStart(sessionId: string, callId: string): void {
    const running = this.#running.get(sessionId);
    if (running === undefined || running.isReported) return;
    running.isReported = true;
    this.#queueEvent({ eventId: randomUUID(), sessionId, event: "started", callId, startedAt: running.startedAt });
  }

  /** The connection is lost, and the last signals may be lost with it. */
  onDisconnect(): void {
    const since = Date.now() - ARRIVED_MS;
    this.#pending = this.#pending.filter(({ sentAt }) => sentAt === null || sentAt >= since);
    for (const pending of this.#pending) pending.sentAt = null;
  }

  flush(): void {
    for (const pending of this.#pending) if (pending.sentAt === null && this.#send(pending.event)) pending.sentAt = Date.now();
  }

  #finish(sessionId: string, { exitCode, error }: Exit): void {
    const running = this.#running.get(sessionId);
    this.#running.delete(sessionId);
    if (running?.isReported !== true) return;
    const { startedAt } = running;
    const event = exitCode === 0 ? "finished" : exitCode === TIMED_OUT && error !== undefined ? "timed_out" : "failed";
    this.#queueEvent({ eventId: randomUUID(), sessionId, event, exitCode, startedAt, endedAt: Date.now() });
  }

  #queueEvent(event: ExecEvent): void {
    const since = Date.now() - ARRIVED_MS;
    this.#pending = [...this.#pending.filter(({ sentAt }) => sentAt === null || sentAt >= since), { event, sentAt: null }].slice(
      -PENDING_MAX,
    );
    // Sent after the answer that names the session, so that the gateway knows it.
    setImmediate(() => this.flush());
  }
}
