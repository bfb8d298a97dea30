// Writes down what the calls of a script do, several reports at a time: alone, each would be a transaction, and a sync of the disk where
// nothing else is written. What is lost with the process are reports of a script that is lost with it.

import type { State, Tell } from "../rows/state.ts";

/** People see calls this much later. */
const DELAY_MS = 20;

type Report = { runId: string; write: (tell: Tell) => void };

export class ScriptReports {
  readonly #state: State;
  #waiting: Report[] = [];
  /** Calls by run that are not counted in its usage yet. */
  readonly #calls = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(state: State) {
    this.#state = state;
  }

  add(runId: string, write: Report["write"]): void {
    this.#waiting.push({ runId, write });
    this.#flushSoon();
  }

  /** Counts a call for the budget of the run. */
  count(runId: string): void {
    this.#calls.set(runId, (this.#calls.get(runId) ?? 0) + 1);
    this.#flushSoon();
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.flush(), DELAY_MS);
  }

  /** Reports that cannot be stored are lost: neither the script nor its run depends on them. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const counts = [...this.#calls].map(([runId, count]) => ({ runId, write: () => this.#state.usage.addToolCalls(runId, count) }));
    this.#calls.clear();
    const reports = [...counts, ...this.#waiting.splice(0)];
    if (reports.length === 0 || this.#state.isClosed) return;
    // Nobody follows the calls of a run that has ended.
    const active = this.#state.runs.findActive()?.runId;
    const current = reports.filter(({ runId }) => runId === active);
    if (this.#write(current)) return;
    for (const report of current) this.#write([report]);
  }

  #write(reports: readonly Report[]): boolean {
    try {
      if (reports.length > 0) this.#state.change((tell) => reports.forEach(({ write }) => write(tell)));
      return true;
    } catch (error) {
      this.#state.ports.log("what a script did could not be stored", { reports: reports.length, error: String(error) });
      return false;
    }
  }
}
