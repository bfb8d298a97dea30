// One agent process while its file is open. NodeProcesses (processes.ts) opens and closes it; nobody else holds on to it.

import { SysError } from "../../lib/sys-error.ts";
import { StorageError } from "../../ports/sql.ts";
import { ProcessActor } from "../../process/actor.ts";
import type { ProcessPorts } from "../../process/kernel-port.ts";
import { crashAroundCall, withRunFaults } from "./faults.ts";
import type { JournaledSql } from "./journal/journaled-sql.ts";

/** setTimeout cannot wait longer. On such an early wake the process finds nothing due and asks again. */
const WAIT_MS_MAX = 2 ** 31 - 1;

export type OpenProcessPorts = Omit<ProcessPorts, "sql" | "now" | "wakeAt" | "heartbeatMs"> & {
  /** A batch was lost: this process's memory no longer matches the disk. */
  onBatchLost: () => void;
};

export class OpenProcess {
  readonly #sql: JournaledSql;
  readonly #actor: ProcessActor;
  #wakeTimer: NodeJS.Timeout | undefined;
  #openCalls = 0;
  #isClosed = false;
  /** When it was last busy, on the monotonic clock. */
  usedAt = performance.now();

  constructor(pid: string, sql: JournaledSql, { onBatchLost, ...shared }: OpenProcessPorts) {
    this.#sql = sql;
    try {
      this.#sql.onFailure(() => this.#isClosed || onBatchLost());
      const ports = withRunFaults({
        ...shared,
        sql: this.#sql,
        now: () => Date.now(),
        wakeAt: (ms) => this.#wakeAt(ms),
        // A process that was closed in the middle of its work has nothing to report.
        log: (message, fields) => this.#isClosed || shared.log(message, fields),
      });
      this.#actor = new ProcessActor(pid, ports);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  async call(name: string, args: object): Promise<unknown> {
    this.#openCalls++;
    try {
      crashAroundCall(name, args, "before");
      const value = await this.#actor.call(name, args);
      crashAroundCall(name, args, "after");
      return value;
    } catch (error) {
      if (!this.#isClosed || error instanceof SysError || error instanceof StorageError) throw error;
      throw new SysError(503, "The process was put to sleep in the meantime: try again");
    } finally {
      this.#openCalls--;
      this.usedAt = performance.now();
    }
  }

  /** Whether the process is idle, so that its file may be closed. */
  get isIdle(): boolean {
    return this.#openCalls === 0 && this.#actor.isIdle;
  }

  /** Closes it; afterwards the file may be opened again. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#wakeTimer);
    this.#actor?.close();
    this.#sql.close();
  }

  #wakeAt(ms: number | null): void {
    clearTimeout(this.#wakeTimer);
    if (this.#isClosed || ms === null) return;
    this.#wakeTimer = setTimeout(() => this.#actor.onWake(), Math.min(Math.max(0, ms - Date.now()), WAIT_MS_MAX)).unref();
  }
}
