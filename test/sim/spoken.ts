// Messages to processes and their outcomes: a promised message is in the history once, and its run has ended or waits for a
// person; and nobody receives signals of a foreign process.

import type { MemoryProcesses } from "../support/memory/processes.ts";
import type { Data } from "./requests.ts";

type Message = { pid: string; message: string; isPromised: boolean };

export class Spoken {
  readonly #report: (what: string) => void;
  readonly #messages = new Map<string, Message>();

  constructor(report: (what: string) => void) {
    this.#report = report;
  }

  static isSpoken(call: string): boolean {
    return call === "proc.send";
  }

  asked(uid: number, { runId, message }: Data): void {
    const known = this.#messages.get(String(runId));
    this.#messages.set(String(runId), known ?? { pid: `init:${uid}`, message: String(message), isPromised: false });
  }

  promised({ runId }: Data): void {
    const sent = this.#messages.get(String(runId));
    if (sent === undefined) this.#report(`run ${String(runId)} was promised, which nobody asked for`);
    else sent.isPromised = true;
  }

  /** A signal is on the wire. */
  heard(uid: number | undefined, { pid }: Data): void {
    if (pid !== `init:${String(uid)}`) this.#report(`uid ${String(uid)} was told of process ${String(pid)}`);
  }

  /** Called once faults have stopped and everything had time to finish. */
  checkQuiet(processes: MemoryProcesses): number {
    let ended = 0;
    for (const [runId, { pid, message, isPromised }] of this.#messages) {
      const rows = processes.rowsOf(pid);
      const run = rows?.get("SELECT state FROM runs WHERE run_id = ?", runId);
      if (isPromised && run === undefined) this.#report(`${pid} does not know run ${runId}, which was promised`);
      if (run === undefined) continue;
      // Nobody answers questions here: a run that asked one waits, and so do the runs after it.
      const isAsking = rows!.get("SELECT 1 FROM runs WHERE state = 'active' AND paused_at IS NOT NULL") !== undefined;
      if (run.state === "ended") ended++;
      else if (!isAsking) this.#report(`run ${runId} of ${pid} is still ${String(run.state)}`);
      if (run.state === "waiting") continue;
      const said = rows!.all("SELECT content FROM messages WHERE run_id = ? AND role = 'user'", runId);
      if (said.length !== 1 || !String(said[0]!.content).includes(message))
        this.#report(`run ${runId} was said ${said.length} times: ${JSON.stringify(said)}`);
    }
    return ended;
  }
}
