// Agent processes in the test's own process, each over a database in memory. Lives end with `crash`: what was durable by then is
// what the next one finds.

import type { KernelSide } from "../../../src/hosts/node/processes.ts";
import type { Processes } from "../../../src/hosts/shared/actors.ts";
import type { Models } from "../../../src/ports/models.ts";
import { ProcessActor } from "../../../src/process/actor.ts";
import type { KernelPort } from "../../../src/process/kernel-port.ts";
import { MemorySql } from "./sql.ts";

export type MemoryProcessesOptions = {
  models: Models;
  /** The kernel of the moment: a process outlives one that is put to sleep. */
  kernel: () => KernelSide;
  uuid: () => string;
  now?: () => number;
  /** When rows begin to wait, so that their commit can be planned; at once unless told. */
  began?: (sql: MemorySql) => void;
  /** As of a host that may take memory while something is under way. */
  beatMs?: number;
  /** Calls back then, unless everything is over before. */
  wakeAt?: (ms: number, woke: () => unknown) => void;
  log?: (message: string, fields: Record<string, string | number>) => void;
};

export class MemoryProcesses implements Processes {
  readonly #options: MemoryProcessesOptions;
  readonly #rows = new Map<string, MemorySql>();
  readonly #lives = new Map<string, ProcessActor>();
  #life = 0;

  constructor(options: MemoryProcessesOptions) {
    this.#options = options;
  }

  async call(pid: string, name: string, args: object): Promise<unknown> {
    const life = this.#life;
    const copied = structuredClone(args);
    // A kernel may ask while it is still being made, and be gone before it is.
    await Promise.resolve();
    return this.#life === life ? this.#living(pid).call(name, copied) : new Promise(() => {});
  }

  /** For checks from outside. */
  rowsOf(pid: string): MemorySql | undefined {
    return this.#rows.get(pid);
  }

  /** Whether nothing is under way in any of them. */
  get isIdle(): boolean {
    return [...this.#lives.values()].every(({ isIdle }) => isIdle);
  }

  /** The memory of one is taken, as of one that hears nothing. */
  forget(pid: string): void {
    this.#lives.get(pid)?.close();
    this.#lives.delete(pid);
  }

  /** All of them are gone, and what they waited for never comes. */
  crash(): void {
    this.#life++;
    for (const sql of this.#rows.values()) sql.crash();
    this.#lives.clear();
  }

  close(): void {
    this.#life++;
    for (const actor of this.#lives.values()) actor.close();
    for (const sql of this.#rows.values()) sql.close();
  }

  #living(pid: string): ProcessActor {
    let actor = this.#lives.get(pid);
    if (actor === undefined) {
      actor = this.#begin(pid);
      this.#lives.set(pid, actor);
    }
    return actor;
  }

  #begin(pid: string): ProcessActor {
    const { models, kernel, uuid, now = Date.now, wakeAt, beatMs, log } = this.#options;
    const life = this.#life;
    const sql = this.#sqlOf(pid);
    let asks = 0;
    const actor: ProcessActor = new ProcessActor(pid, {
      sql,
      models,
      kernel: kernelPortFor(pid, kernel),
      now,
      uuid,
      archiveRoot: () => kernel().archiveRoot(pid),
      ...(beatMs === undefined ? {} : { beatMs }),
      wakeAt: (ms) => {
        const asked = ++asks;
        const isWanted = () => asked === asks && this.#life === life && this.#lives.get(pid) === actor;
        if (ms !== null) wakeAt?.(ms, () => isWanted() && actor.woke());
      },
      log: (message, fields) => this.#life === life && log?.(message, { pid, ...fields }),
    });
    // What it believes is no longer what is kept: the next life begins from that.
    sql.onFailure(() => {
      if (this.#lives.get(pid) !== actor) return;
      actor.close();
      this.#lives.set(pid, this.#begin(pid));
    });
    return actor;
  }

  #sqlOf(pid: string): MemorySql {
    const known = this.#rows.get(pid);
    if (known !== undefined) return known;
    const commit = (sql: MemorySql) => queueMicrotask(() => sql.commit());
    const sql: MemorySql = new MemorySql((batch) => batch === "open" && (this.#options.began ?? commit)(sql));
    this.#rows.set(pid, sql);
    return sql;
  }
}

function kernelPortFor(pid: string, kernel: () => KernelSide): KernelPort {
  const now = () => kernel().kernelPortFor(pid);
  return {
    prepare: (conversationId) => now().prepare(conversationId),
    sys: (call, signal, began) => now().sys(call, signal, began),
    emit: (events) => now().emit(events),
    heardUpTo: () => now().heardUpTo(),
    ofOwner: () => now().ofOwner(),
    askForBudget: (question) => now().askForBudget(question),
    keepOutput: (callId, text) => now().keepOutput(callId, text),
    readMedia: (key) => now().readMedia(key),
    archive: (path, bytes) => now().archive(path, bytes),
    readArchive: (path) => now().readArchive(path),
    checkpoint: (checkpoint) => now().checkpoint(checkpoint),
    stream: (payload) => now().stream(payload),
  };
}
