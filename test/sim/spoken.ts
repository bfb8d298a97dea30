// What was said to processes and what became of it: what was promised to be heard is in the history once, and its run has
// ended or waits for a person; and nobody hears of a process that is not theirs.

import type { MemoryProcesses } from "../support/memory/processes.ts";
import type { Data } from "./requests.ts";

type Saying = { pid: string; message: string; isPromised: boolean };

export class Spoken {
  readonly #broken: (what: string) => void;
  readonly #sayings = new Map<string, Saying>();

  constructor(broken: (what: string) => void) {
    this.#broken = broken;
  }

  static isSpoken(call: string): boolean {
    return call === "proc.send";
  }

  asked(uid: number, { runId, message }: Data): void {
    const known = this.#sayings.get(String(runId));
    this.#sayings.set(String(runId), known ?? { pid: `init:${uid}`, message: String(message), isPromised: false });
  }

  promised({ runId }: Data): void {
    const saying = this.#sayings.get(String(runId));
    if (saying === undefined) this.#broken(`run ${String(runId)} was promised, which nobody asked for`);
    else saying.isPromised = true;
  }

  /** A signal is on the wire to somebody. */
  heard(uid: number | undefined, { pid }: Data): void {
    if (pid !== `init:${String(uid)}`) this.#broken(`uid ${String(uid)} was told of process ${String(pid)}`);
  }

  /** Once faults have stopped and everything has had its time. */
  checkQuiet(processes: MemoryProcesses): number {
    let ended = 0;
    for (const [runId, { pid, message, isPromised }] of this.#sayings) {
      const rows = processes.rowsOf(pid);
      const run = rows?.get("SELECT state FROM runs WHERE run_id = ?", runId);
      if (isPromised && run === undefined) this.#broken(`${pid} does not know run ${runId}, which was promised`);
      if (run === undefined) continue;
      // Nobody answers questions here: a run that asked one waits, and so does what comes after it.
      const isAsking = rows!.get("SELECT 1 FROM runs WHERE state = 'active' AND paused_at IS NOT NULL") !== undefined;
      if (run.state === "ended") ended++;
      else if (!isAsking) this.#broken(`run ${runId} of ${pid} is still ${String(run.state)}`);
      if (run.state === "waiting") continue;
      const said = rows!.all("SELECT content FROM messages WHERE run_id = ? AND role = 'user'", runId);
      if (said.length !== 1 || !String(said[0]!.content).includes(message))
        this.#broken(`run ${runId} was said ${said.length} times: ${JSON.stringify(said)}`);
    }
    return ended;
  }
}
