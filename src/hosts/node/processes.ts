// Agent processes in the gateway's own thread, one SQLite file each. One is opened when it is asked for and closed again when
// nothing was under way for a while, so that those asleep cost nothing. Their timers are in memory only: after a restart the
// kernel wakes those that had work. What a life was doing when it ended, the next one goes on with.

import { join } from "node:path";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { fail } from "../../lib/sys-error.ts";
import { deferred } from "../../lib/deferred.ts";
import type { Log } from "../../ports/log.ts";
import type { Models } from "../../ports/models.ts";
import type { KernelPort } from "../../process/kernel-port.ts";
import type { Processes } from "../shared/actors.ts";
import { DiskQueue } from "./disk-queue.ts";
import { makeFolder } from "./folders.ts";
import { OpenProcess } from "./open-process.ts";

export type ProcessesOptions = {
  /** Where the files are. */
  folder: string;
  models: Models;
  uuid: () => string;
  log: Log;
  /** Told of errors after which a file must not be trusted without a restart of the whole gateway. */
  fatal: (error: unknown) => void;
  idleMs?: number;
  openMax?: number;
  reviveMs?: number;
};

/** What the kernel is to processes. */
export type KernelSide = {
  kernelPortFor: (pid: string) => KernelPort;
  archiveRoot: (pid: string) => string;
  ownerOf: (pid: string) => number;
};

const IDLE_MS = 60_000;
/** Of those at rest: each has three files open and half a megabyte, and is opened again in 2 ms. Those at work are as many as there are. */
const OPEN_MAX = 128;
/** How many are looked at to make room for one: where nearly all are at work, the rest comes with the next. */
const LOOKS = 32;
/** After a batch was lost, such as on a full disk, which needs some time to be less full. */
const REVIVE_MS = 5_000;

export class NodeProcesses implements Processes {
  readonly #options: ProcessesOptions;
  /** The longest unused first. */
  readonly #lives = new Map<string, OpenProcess>();
  readonly #reviving = new Map<string, NodeJS.Timeout>();
  readonly #disk = new DiskQueue();
  readonly #started = deferred();
  #kernel: KernelSide | null = null;
  #sweeping: NodeJS.Timeout | undefined;
  #isSweeping = false;
  #isClosed = false;

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  /** From now on there is a kernel to ask. What it asked for while it was made waits until here. */
  start(kernel: KernelSide): void {
    this.#kernel = kernel;
    makeFolder(this.#options.folder);
    this.#sweeping = setInterval(() => this.#rest(), (this.#options.idleMs ?? IDLE_MS) / 4).unref();
    this.#started.resolve();
  }

  /** How many are open. */
  get size(): number {
    return this.#lives.size;
  }

  async call(pid: string, name: string, args: object): Promise<unknown> {
    if (this.#kernel === null) await this.#started.promise;
    if (!this.#lives.has(pid)) await this.#turnOf(pid);
    return this.#life(pid).call(name, args);
  }

  /** What was under way goes on in the next life. Resolves when the kernel was told what had become true until now. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeping);
    for (const timer of this.#reviving.values()) clearTimeout(timer);
    for (const [pid, life] of this.#lives) this.#end(pid, life);
    this.#started.resolve();
    await yieldToEventLoop();
  }

  #turnOf(pid: string): Promise<void> {
    return new Promise((resolve) => this.#disk.add(this.#kernel?.ownerOf(pid) ?? 0, resolve));
  }

  #life(pid: string): OpenProcess {
    if (this.#kernel === null || this.#isClosed) fail(503, "The gateway is going down");
    const life = this.#lives.get(pid) ?? this.#open(pid, this.#kernel);
    this.#lives.delete(pid);
    this.#lives.set(pid, life);
    return life;
  }

  #open(pid: string, { kernelPortFor, archiveRoot, ownerOf }: KernelSide): OpenProcess {
    const { folder, models, uuid, log, fatal } = this.#options;
    const file = join(folder, fileName(pid));
    this.#makeRoom();
    const life: OpenProcess = new OpenProcess(pid, file, {
      models,
      uuid,
      kernel: kernelPortFor(pid),
      archiveRoot: () => archiveRoot(pid),
      log: (message, fields) => log.error(message, { pid, ...fields }),
      fatal,
      soon: (commit) => this.#disk.add(ownerOf(pid), commit),
      lost: () => {
        this.#end(pid, life);
        this.#revive(pid);
      },
    });
    return life;
  }

  #end(pid: string, life: OpenProcess): void {
    if (this.#lives.get(pid) === life) this.#lives.delete(pid);
    life.end();
  }

  /** Nobody may ask for it soon, and it may have had work. */
  #revive(pid: string): void {
    if (this.#isClosed || this.#reviving.has(pid)) return;
    const revive = () => {
      this.#reviving.delete(pid);
      try {
        this.#life(pid);
      } catch (error) {
        this.#options.log.warn("a process could not be opened", { pid, error: String(error) });
        this.#revive(pid);
      }
    };
    this.#reviving.set(pid, setTimeout(revive, this.#options.reviveMs ?? REVIVE_MS).unref());
  }

  #makeRoom(): void {
    let looks = 0;
    for (const [pid, life] of this.#lives) {
      if (this.#lives.size < (this.#options.openMax ?? OPEN_MAX) || ++looks > LOOKS) return;
      if (life.isIdle) this.#end(pid, life);
      else {
        this.#lives.delete(pid);
        this.#lives.set(pid, life);
      }
    }
  }

  #rest(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    void this.#sweep()
      .catch((error: unknown) => this.#options.log.error("processes could not be put to sleep", { error: String(error) }))
      .finally(() => (this.#isSweeping = false));
  }

  /** Closing a file takes its time, so everybody else has a turn after each. */
  async #sweep(): Promise<void> {
    for (const [pid, life] of this.#lives) {
      if (this.#lives.get(pid) !== life) continue;
      const now = performance.now();
      if (!life.isIdle) life.usedAt = now;
      if (now - life.usedAt < (this.#options.idleMs ?? IDLE_MS)) continue;
      this.#end(pid, life);
      await yieldToEventLoop();
    }
  }
}

/** Others than these are nobody's, and no file is ever made of them. */
function fileName(pid: string): string {
  if (/^init:\d{1,16}$/.test(pid)) return `${pid.replace(":", "-")}.db`;
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(pid)) return `${pid}.db`;
  return fail(404, "There is no such process");
}
