// Agent processes in the test's own process, each over an in-memory database. After `crash` they restart from the rows that were
// durable.

import type { KernelSide } from "../../../src/hosts/node/processes.ts";
import type { ProcessActors } from "../../../src/ports/actors.ts";
import type { Models } from "../../../src/ports/models.ts";
import { ProcessActor } from "../../../src/process/actor.ts";
import type { KernelPort } from "../../../src/process/kernel-port.ts";
import { NO_SANDBOX } from "../sandbox.ts";
import { MemorySql } from "./sql.ts";

export type MemoryProcessesOptions = {
  models: Models;
  /** The present kernel: a process outlives a kernel that hibernates. */
  kernel: () => KernelSide;
  uuid: () => string;
  now?: () => number;
  /**
   * A message waits for it: what the kernel wrote before is durable by then, as the output gate of Cloudflare and the one journal of Node
   * ensure.
   */
  whenKernelDurable?: () => Promise<void>;
  /** Called when a batch opens, so that its commit can be scheduled; by default it commits in a microtask. */
  onBatch?: (sql: MemorySql) => void;
  /** For a host that may take memory while work is in progress. */
  heartbeatMs?: number;
  /** Calls `woke` at that time; a wake that was replaced or whose process has ended does nothing. */
  wakeAt?: (ms: number, woke: () => unknown) => void;
  log?: (message: string, fields: Record<string, string | number>) => void;
};

export class MemoryProcesses implements ProcessActors {
  readonly #options: MemoryProcessesOptions;
  readonly #rows = new Map<string, MemorySql>();
  readonly #actors = new Map<string, ProcessActor>();
  #life = 0;

  constructor(options: MemoryProcessesOptions) {
    this.#options = options;
  }

  async call(pid: string, name: string, args: object): Promise<unknown> {
    const life = this.#life;
    const copied = structuredClone(args);
    // A kernel may call while it is still being constructed, and crash before that is done.
    await Promise.resolve();
    await this.#options.whenKernelDurable?.();
    return this.#life === life ? this.#actorOf(pid).call(name, copied) : new Promise(() => {});
  }

  /** For the checks of a test. */
  rowsOf(pid: string): MemorySql | undefined {
    return this.#rows.get(pid);
  }

  /** Whether no process has work in progress. */
  get isIdle(): boolean {
    return [...this.#actors.values()].every(({ isIdle }) => isIdle);
  }

  /** Discards the memory of one process without telling it. */
  forget(pid: string): void {
    this.#actors.get(pid)?.close();
    this.#actors.delete(pid);
  }

  /** As if the database of a process had been lost. */
  lose(pid: string): void {
    this.forget(pid);
    this.#rows.delete(pid);
  }

  /** Ends all processes; promises they awaited never settle. */
  crash(): void {
    this.#life++;
    for (const sql of this.#rows.values()) sql.crash();
    this.#actors.clear();
  }

  close(): void {
    this.#life++;
    for (const actor of this.#actors.values()) actor.close();
    for (const sql of this.#rows.values()) sql.close();
  }

  #actorOf(pid: string): ProcessActor {
    let actor = this.#actors.get(pid);
    if (actor === undefined) {
      actor = this.#begin(pid);
      this.#actors.set(pid, actor);
    }
    return actor;
  }

  #begin(pid: string): ProcessActor {
    const { models, kernel, uuid, now = Date.now, wakeAt, heartbeatMs, log } = this.#options;
    const life = this.#life;
    const sql = this.#sqlOf(pid);
    let wakeRequests = 0;
    const actor: ProcessActor = new ProcessActor(pid, {
      sql,
      models,
      sandbox: NO_SANDBOX,
      kernel: kernelPortFor(pid, kernel),
      now,
      uuid,
      archiveRoot: () => kernel().archiveRootOf(pid),
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
      wakeAt: (ms) => {
        const request = ++wakeRequests;
        const isCurrent = () => request === wakeRequests && this.#life === life && this.#actors.get(pid) === actor;
        if (ms !== null) wakeAt?.(ms, () => isCurrent() && actor.onWake());
      },
      log: (message, fields) => this.#life === life && log?.(message, { pid, ...fields }),
    });
    // Its memory no longer matches its rows: restart it from the rows.
    sql.onFailure(() => {
      if (this.#actors.get(pid) !== actor) return;
      actor.close();
      this.#actors.set(pid, this.#begin(pid));
    });
    return actor;
  }

  #sqlOf(pid: string): MemorySql {
    const known = this.#rows.get(pid);
    if (known !== undefined) return known;
    const commit = (sql: MemorySql) => queueMicrotask(() => sql.commit());
    const sql: MemorySql = new MemorySql((batch) => batch === "open" && (this.#options.onBatch ?? commit)(sql));
    this.#rows.set(pid, sql);
    return sql;
  }
}

function kernelPortFor(pid: string, kernel: () => KernelSide): KernelPort {
  const now = () => kernel().kernelPortFor(pid);
  return {
    prepare: (conversationId, settings) => now().prepare(conversationId, settings),
    runSyscall: (call, signal, onStart) => now().runSyscall(call, signal, onStart),
    runScriptCall: (call, signal) => now().runScriptCall(call, signal),
    listScriptFunctions: () => now().listScriptFunctions(),
    withdrawQuestions: (runId, about) => now().withdrawQuestions(runId, about),
    emit: (events) => now().emit(events),
    lastReceivedSeq: () => now().lastReceivedSeq(),
    readOwnerAccount: () => now().readOwnerAccount(),
    askForBudget: (question) => now().askForBudget(question),
    storeOutput: (callId, text) => now().storeOutput(callId, text),
    readMedia: (key) => now().readMedia(key),
    archive: (path, bytes) => now().archive(path, bytes),
    readArchive: (path) => now().readArchive(path),
    checkpoint: (checkpoint) => now().checkpoint(checkpoint),
    stream: (payload) => now().stream(payload),
  };
}
