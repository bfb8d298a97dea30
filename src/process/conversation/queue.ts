// What waits in a process: messages that came while something else was worked on, for those who want to look at them, put
// them right or take them back before their turn comes.

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

  /** In the order in which they will be said. */
  list(conversationId?: string): QueuedMessage[] {
    return this.#state.runs.waiting().flatMap((run) => {
      const isWanted = run.message !== null && (conversationId === undefined || run.conversationId === conversationId);
      return isWanted ? [shown(run, run.message!)] : [];
    });
  }

  /** What waits on hold goes on, of a conversation or everywhere. How many those are. */
  resume(conversationId?: string): number {
    return this.#state.change((tell) => {
      const resumed = this.#state.runs.release(conversationId ?? null);
      const of = conversationId === undefined ? {} : { conversationId };
      if (resumed > 0) tell(PROC_CHANGED, { changes: ["queue"], ...of, resumed });
      return resumed;
    });
  }

  edit(runId: string, text: string): QueuedMessage {
    return this.#state.change((tell) => {
      const run = this.#waiting(runId);
      if (run.message?.role !== "user") fail(409, "Only what a person said can be edited");
      const message = { ...run.message, text };
      this.#state.runs.rewrite(runId, message);
      tell(PROC_CHANGED, { changes: ["queue"], conversationId: run.conversationId, editedRunId: runId });
      return shown(run, message);
    });
  }

  /** Its run ends as aborted, and nothing of it was said. */
  withdraw(runId: string): QueuedMessage {
    return this.#state.change((tell) => {
      const run = this.#waiting(runId);
      this.#state.ended(run, { status: "aborted", reason: "user", text: null }, tell);
      tell(PROC_CHANGED, { changes: ["queue"], conversationId: run.conversationId, withdrawnRunId: runId });
      return shown(run, run.message ?? { role: "system", text: "" });
    });
  }

  #waiting(runId: string): Run {
    const run = this.#state.runs.get(runId);
    if (run === undefined) fail(404, `No such message: ${runId}`);
    if (run.state !== "waiting") fail(409, "It was said already: look at the conversation");
    return run;
  }
}

function shown({ runId, conversationId, createdAt, isOnHold }: Run, message: NonNullable<Run["message"]>): QueuedMessage {
  const { role, text } = message;
  const media = message.role === "user" && message.media !== undefined ? { media: message.media } : {};
  return { runId, conversationId, role, text, ...media, queuedAt: createdAt, ...(isOnHold ? { paused: true } : {}) };
}
