// Writes down what the calls of a script do, several reports at a time: alone, each would be a transaction, and a sync of the disk where
// nothing else is written. What is lost with the process are reports of a script that is lost with it.

import type { State, Tell } from "../rows/state.ts";

/** People see calls this much later. */
const DELAY_MS = 20;

type Report = { runId: string; write: (tell: Tell) => void };

export class ScriptReports {
  readonly #state: State;
  #waiting: Report[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(state: State) {
    this.#state = state;
  }

  add(runId: string, write: Report["write"]): void {
    this.#waiting.push({ runId, write });
    this.#timer ??= setTimeout(() => this.#flushSafely(), DELAY_MS);
  }

  #flushSafely(): void {
    try {
      this.flush();
    } catch (error) {
      this.#state.ports.log("what a script did could not be stored", { error: String(error) });
    }
  }

  /** Nobody follows the calls of a run that has ended. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const reports = this.#waiting.splice(0);
    if (reports.length === 0 || this.#state.isClosed) return;
    const active = this.#state.runs.findActive()?.runId;
    const current = reports.filter(({ runId }) => runId === active);
    if (current.length > 0) this.#state.change((tell) => current.forEach(({ write }) => write(tell)));
  }
}
