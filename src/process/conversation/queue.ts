// Queued messages of a process: those that arrived during a run. People can list, edit and withdraw them until their run begins.

import { fail } from "../../lib/sys-error.ts";
import type { StoredMedia } from "../rows/history.ts";
import type { Run } from "../rows/runs.ts";
import type { State } from "../rows/state.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";

export type QueuedMessage = {
  runId: string;
  conversationId: string;
  role: "user" | "system";
  text: string;
  media?: StoredMedia[];
  queuedAt: number;
  /** It waits until the queue is resumed. */
  paused?: true;
};

export class Queue {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** In the order in which their runs will begin. */
  list(conversationId?: string): QueuedMessage[] {
    return this.#state.runs.listWaiting().flatMap((run) => {
      const isWanted = run.message !== null && (conversationId === undefined || run.conversationId === conversationId);
      return isWanted ? [toQueuedMessage(run, run.message!)] : [];
    });
  }

  /** Releases queued messages that are on hold, of one conversation or all, and returns how many there were. */
  resume(conversationId?: string): number {
    return this.#state.change((tell) => {
      const resumed = this.#state.runs.releaseQueued(conversationId ?? null);
      const scope = conversationId === undefined ? {} : { conversationId };
      if (resumed > 0) tell(PROC_CHANGED, { changes: ["queue"], ...scope, resumed });
      return resumed;
    });
  }

  edit(runId: string, text: string): QueuedMessage {
    return this.#state.change((tell) => {
      const run = this.#mustBeWaiting(runId);
      if (run.message?.role !== "user") fail(409, "Only messages from a person can be edited");
      const message = { ...run.message, text };
      this.#state.runs.setMessage(runId, message);
      tell(PROC_CHANGED, { changes: ["queue"], conversationId: run.conversationId, editedRunId: runId });
      return toQueuedMessage(run, message);
    });
  }

  /** Its run ends as aborted, and the message never enters the conversation. */
  withdraw(runId: string): QueuedMessage {
    return this.#state.change((tell) => {
      const run = this.#mustBeWaiting(runId);
      this.#state.endRun(run, { status: "aborted", reason: "user", text: null }, tell);
      tell(PROC_CHANGED, { changes: ["queue"], conversationId: run.conversationId, withdrawnRunId: runId });
      return toQueuedMessage(run, run.message ?? { role: "system", text: "" });
    });
  }

  #mustBeWaiting(runId: string): Run {
    const run = this.#state.runs.get(runId);
    if (run === undefined) fail(404, `No such message: ${runId}`);
    if (run.state !== "waiting") fail(409, "This message is no longer queued: look at the conversation");
    return run;
  }
}

function toQueuedMessage({ runId, conversationId, createdAt, isOnHold }: Run, message: NonNullable<Run["message"]>): QueuedMessage {
  const { role, text } = message;
  const media = message.role === "user" && message.media !== undefined ? { media: message.media } : {};
  return { runId, conversationId, role, text, ...media, queuedAt: createdAt, ...(isOnHold ? { paused: true } : {}) };
}
