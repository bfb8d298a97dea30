// Agent processes in the gateway's own thread, one SQLite file each, with one journal for all. A process is opened at the first call
// and closed after it has been idle for a while, so that sleeping ones cost nothing. Their timers are in memory only: after a restart
// the kernel wakes those that had work. A reopened process continues the work that was interrupted.

import { join } from "node:path";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { fail } from "../../lib/sys-error.ts";
import { deferred } from "../../lib/deferred.ts";
import type { Log } from "../../ports/log.ts";
import type { Models } from "../../ports/models.ts";
import type { KernelPort } from "../../process/kernel-port.ts";
import type { ProcessActors } from "../../ports/actors.ts";
import { DiskQueue } from "./disk-queue.ts";
import { makeFolder } from "./folders.ts";
import type { Journal } from "./journal/journal.ts";
import { JournaledSql } from "./journal/journaled-sql.ts";
import { OpenProcess } from "./open-process.ts";
import type { NodeSandboxes } from "./sandboxes.ts";

export type ProcessesOptions = {
  /** The data directory. */
  root: string;
  journal: Journal;
  models: Models;
  sandboxes: NodeSandboxes;
  uuid: () => string;
  log: Log;
  /** Called with errors after which a file must not be trusted before the whole gateway restarts. */
  onFatalError: (error: unknown) => void;
  idleMs?: number;
  openMax?: number;
  reopenMs?: number;
};

/** The kernel as processes see it. */
export type KernelSide = {
  kernelPortFor: (pid: string) => KernelPort;
  archiveRootOf: (pid: string) => string;
  ownerUidOf: (pid: string) => number;
};

const FOLDER = "processes";
/** A process works at the end of its history, and what it works with is in its own memory. */
const CACHE_KB = 256;
const IDLE_MS = 30_000;
/** Limit for idle ones: each has three open files and needs half a megabyte, and reopening takes 2 ms. Busy ones are not limited. */
const OPEN_MAX = 128;
/** How many are checked to make room for one; if nearly all are busy, the next open checks further. */
const CHECKS_MAX = 32;
/** Delay before a process is reopened after a lost batch; a full disk needs some time to recover. */
const REOPEN_MS = 5_000;

export class NodeProcesses implements ProcessActors {
  readonly #options: ProcessesOptions;
  /** Least recently used first. */
  readonly #processes = new Map<string, OpenProcess>();
  readonly #reopenTimers = new Map<string, NodeJS.Timeout>();
  readonly #disk = new DiskQueue();
  readonly #started = deferred();
  #kernel: KernelSide | null = null;
  #sweepTimer: NodeJS.Timeout | undefined;
  #isSweeping = false;
  #isClosed = false;

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  /** Called once the kernel exists. Calls that the kernel made while it was constructed wait until then. */
  start(kernel: KernelSide): void {
    this.#kernel = kernel;
    makeFolder(join(this.#options.root, FOLDER));
    this.#sweepTimer = setInterval(() => this.#startSweep(), (this.#options.idleMs ?? IDLE_MS) / 4).unref();
    this.#started.resolve();
  }

  /** Number of open processes. */
  get size(): number {
    return this.#processes.size;
  }

  async call(pid: string, name: string, args: object): Promise<unknown> {
    if (this.#kernel === null) await this.#started.promise;
    if (!this.#processes.has(pid)) await this.#waitForDisk(pid);
    return this.#openIfClosed(pid).call(name, args);
  }

  /** Interrupted work continues after the next open. Resolves when the kernel has received every event that was durable by then. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweepTimer);
    for (const timer of this.#reopenTimers.values()) clearTimeout(timer);
    for (const [pid, opened] of this.#processes) this.#closeProcess(pid, opened);
    this.#started.resolve();
    await yieldToEventLoop();
  }

  #waitForDisk(pid: string): Promise<void> {
    return new Promise((resolve) => this.#disk.add(this.#kernel?.ownerUidOf(pid) ?? 0, resolve));
  }

  #openIfClosed(pid: string): OpenProcess {
    if (this.#kernel === null || this.#isClosed) fail(503, "The gateway is shutting down");
    const opened = this.#processes.get(pid) ?? this.#open(pid, this.#kernel);
    this.#processes.delete(pid);
    this.#processes.set(pid, opened);
    return opened;
  }

  #open(pid: string, { kernelPortFor, archiveRootOf, ownerUidOf }: KernelSide): OpenProcess {
    const { root, journal, models, sandboxes, uuid, log, onFatalError } = this.#options;
    const file = `${FOLDER}/${fileName(pid)}`;
    this.#makeRoom();
    const opened: OpenProcess = new OpenProcess(pid, new JournaledSql(root, file, journal, onFatalError, CACHE_KB), {
      models,
      sandbox: sandboxes.makeSandbox(() => ownerUidOf(pid)),
      uuid,
      kernel: kernelPortFor(pid),
      archiveRoot: () => archiveRootOf(pid),
      log: (message, fields) => log.error(message, { pid, ...fields }),
      onBatchLost: () => {
        this.#closeProcess(pid, opened);
        this.#reopenLater(pid);
      },
    });
    return opened;
  }

  #closeProcess(pid: string, opened: OpenProcess): void {
    if (this.#processes.get(pid) === opened) this.#processes.delete(pid);
    opened.close();
  }

  /** Reopens it later: it may have had work, and nobody may call it soon. */
  #reopenLater(pid: string): void {
    if (this.#isClosed || this.#reopenTimers.has(pid)) return;
    const reopen = () => {
      this.#reopenTimers.delete(pid);
      try {
        this.#openIfClosed(pid);
      } catch (error) {
        this.#options.log.warn("a process could not be opened", { pid, error: String(error) });
        this.#reopenLater(pid);
      }
    };
    this.#reopenTimers.set(pid, setTimeout(reopen, this.#options.reopenMs ?? REOPEN_MS).unref());
  }

  #makeRoom(): void {
    let checks = 0;
    for (const [pid, opened] of this.#processes) {
      if (this.#processes.size < (this.#options.openMax ?? OPEN_MAX) || ++checks > CHECKS_MAX) return;
      if (opened.isIdle) this.#closeProcess(pid, opened);
      else {
        this.#processes.delete(pid);
        this.#processes.set(pid, opened);
      }
    }
  }

  #startSweep(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    void this.#sweep()
      .catch((error: unknown) => this.#options.log.error("processes could not be put to sleep", { error: String(error) }))
      .finally(() => (this.#isSweeping = false));
  }

  /** Closing a file is slow, so the sweep yields after each. */
  async #sweep(): Promise<void> {
    for (const [pid, opened] of this.#processes) {
      if (this.#processes.get(pid) !== opened) continue;
      const now = performance.now();
      if (!opened.isIdle) opened.usedAt = now;
      if (now - opened.usedAt < (this.#options.idleMs ?? IDLE_MS)) continue;
      this.#closeProcess(pid, opened);
      await yieldToEventLoop();
    }
  }
}

/** No other pids exist, and no file is ever created for one. */
function fileName(pid: string): string {
  if (/^init:\d{1,16}$/.test(pid)) return `${pid.replace(":", "-")}.db`;
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(pid)) return `${pid}.db`;
  return fail(404, "There is no such process");
}
