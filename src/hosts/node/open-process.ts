// One life of an agent process on Node: from the opening of its file to its closing. Others hold it only while it is open
// (processes.ts).

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { SysError } from "../../lib/sys-error.ts";
import { StorageError } from "../../ports/sql.ts";
import { ProcessActor } from "../../process/actor.ts";
import type { ProcessPorts } from "../../process/kernel-port.ts";
import { runAsked, withRunFaults } from "./faults.ts";
import { syncFolder } from "./folders.ts";
import { NodeSql } from "./sql.ts";

/** setTimeout cannot wait longer. The process finds nothing due and asks again. */
const WAIT_MS_MAX = 2 ** 31 - 1;

export type OpenProcessPorts = Omit<ProcessPorts, "sql" | "now" | "wakeAt" | "beatMs"> & {
  fatal: (error: unknown) => void;
  /** Calls back when it is this process's turn to be synced. */
  soon: (commit: () => void) => void;
  /** A batch was not kept: what this life believes is no longer what is on disk. */
  lost: () => void;
};

export class OpenProcess {
  readonly #sql: NodeSql;
  readonly #actor: ProcessActor;
  #wake: NodeJS.Timeout | undefined;
  #uses = 0;
  #isOver = false;
  /** When something of it was last seen under way, by the clock that never jumps. */
  usedAt = performance.now();

  constructor(pid: string, file: string, { fatal, soon, lost, ...shared }: OpenProcessPorts) {
    const isNew = !existsSync(file);
    this.#sql = new NodeSql(file, fatal, soon);
    try {
      if (isNew) syncFolder(dirname(file));
      this.#sql.onFailure(() => this.#isOver || lost());
      const ports = withRunFaults({
        ...shared,
        sql: this.#sql,
        now: () => Date.now(),
        wakeAt: (ms) => this.#wakeAt(ms),
        // What was cut off in the middle has nothing to complain about.
        log: (message, fields) => this.#isOver || shared.log(message, fields),
      });
      this.#actor = new ProcessActor(pid, ports);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  async call(name: string, args: object): Promise<unknown> {
    this.#uses++;
    try {
      runAsked(name, "before");
      const value = await this.#actor.call(name, args);
      runAsked(name, "after");
      return value;
    } catch (error) {
      if (!this.#isOver || error instanceof SysError || error instanceof StorageError) throw error;
      throw new SysError(503, "The process was put to sleep meanwhile: try again");
    } finally {
      this.#uses--;
      this.usedAt = performance.now();
    }
  }

  /** Whether it may be put to sleep. */
  get isIdle(): boolean {
    return this.#uses === 0 && this.#actor.isIdle;
  }

  /** From now on another life may open the file. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#wake);
    this.#actor?.close();
    this.#sql.close();
  }

  #wakeAt(ms: number | null): void {
    clearTimeout(this.#wake);
    if (this.#isOver || ms === null) return;
    this.#wake = setTimeout(() => this.#actor.woke(), Math.min(Math.max(0, ms - Date.now()), WAIT_MS_MAX)).unref();
  }
}
