// Starts the gateway again and again. After each start, the work left over must come to rest within seconds, then new jobs are
// sent, and the gateway is killed: at a named step of a run, or at a random moment.

import { randomUUID } from "node:crypto";
import { CallError, ConnectionLost } from "../../../src/client/client.ts";
import type { RunCrashPoint } from "../../../src/hosts/node/faults.ts";
import type { Bar } from "../bar.ts";
import type { Faults } from "../crash/gateway.ts";
import type { Random } from "../crash/random.ts";
import { pause } from "../devices/asker.ts";
import { ALL_KINDS, type Job, type Kind } from "./jobs.ts";
import { ended, judge, present } from "./oracle.ts";
import { Approver, send } from "./person.ts";
import { WIRES, World } from "./world.ts";

/** Every step of a run, and at most at which occurrence of it the gateway dies. */
export const POINTS: Record<RunCrashPoint, number> = {
  "run-accepted": 3,
  "run-queued": 2,
  "run-model-called": 4,
  "run-half-streamed": 8,
  "run-answered": 2,
  "run-tool-intent": 4,
  "run-tool-done": 4,
  "run-tool-kept": 3,
  "run-question-asked": 2,
  "run-question-pending": 2,
  "run-decided": 2,
  "run-decision-heard": 2,
  "run-archiving": 1,
  "run-archived": 1,
  "run-compacted": 1,
  "run-finished": 3,
};

const JOBS = 6;
/** What the product promises for a restart. */
const SETTLED_MS = 5_000;
/** The connection is lost before the exit of a process is known. */
const EXIT_MS = 300;
/** A guard against hangs, far above what any step takes. */
const HANG_MS = 30_000;

export type Death =
  | { at: RunCrashPoint | "before commit" | "after commit"; times: number }
  | { at: "any moment"; afterMs: number }
  | { at: "the end" };

export class Campaign {
  readonly #bar: Bar;
  readonly #world: World;
  readonly #random: Random;
  readonly #kinds: readonly Kind[];
  readonly #person: Approver;
  readonly #jobs: Job[] = [];
  readonly #unsent = new Set<Job>();
  #lives = 0;
  slowestMs = 0;

  constructor(bar: Bar, world: World, random: Random, kinds: readonly Kind[] = ALL_KINDS) {
    this.#bar = bar;
    this.#world = world;
    this.#random = random;
    this.#kinds = kinds;
    this.#person = new Approver(() => world.client, random);
  }

  /** Starts the gateway, gives it work and ends it. True if it died as planned. */
  async live(death: Death, faults: Faults = {}): Promise<boolean> {
    const world = this.#world;
    const crashAt = "times" in death ? { crashAt: `${death.at.replace(" ", "-")}:${death.times}` } : {};
    const isUp = await world.begin({ ...faults, ...crashAt }, WIRES[this.#lives++ % WIRES.length]!);
    if (isUp && (await this.#checkComesToRest(death.at))) await this.#work(death);
    this.#person.isAwake = false;
    const isDead = isUp && "times" in death ? await world.gateway.endsWithin(EXIT_MS) : world.gateway.isOver;
    await world.gateway.kill();
    return isDead;
  }

  /** The last start of the gateway: it is not killed while it works, and everything is checked. */
  async end(faults: Faults = {}): Promise<void> {
    await this.live({ at: "the end" }, faults);
    this.#person.close();
  }

  /** With nobody to answer questions: work left over from before the restart is resumed in time, and continues as far as it can. */
  async #checkComesToRest(where: string): Promise<boolean> {
    const [world, from] = [this.#world, performance.now()];
    let limbo: string[] = [];
    const isTaken = await this.#pollUntil(SETTLED_MS, async () => (limbo = (await present(world, this.#accepted)).limbo).length === 0);
    if (world.gateway.isOver) return false;
    this.slowestMs = Math.max(this.slowestMs, Math.round(performance.now() - from));
    this.#bar.check("taken up in time", isTaken, () => `in the life that ends at ${where}: ${limbo.join("; ")}`);
    let busy: string[] = [];
    const isRest = await this.#pollUntil(HANG_MS, async () => (busy = (await present(world, this.#accepted)).busy).length === 0);
    if (world.gateway.isOver) return false;
    this.#bar.check("at rest", isRest, () => `in the life that ends at ${where}: ${busy.join("; ")}`);
    return true;
  }

  async #work(death: Death): Promise<void> {
    const world = this.#world;
    this.#person.isAwake = true;
    const isLast = death.at === "the end";
    if (!isLast) this.#addJobs();
    for (const job of this.#unsent) void this.#send(job);
    if (death.at === "any moment") return pause(death.afterMs);
    const isDone = await this.#pollUntil(HANG_MS, async () => {
      if (this.#unsent.size > 0) return false;
      const { busy, asks } = await present(world, []);
      return busy.length + asks.length === 0;
    });
    if (world.gateway.isOver) return;
    const open = this.#unfinished();
    this.#bar.check("all done", isDone && open === "", () => `in the life that ends at ${death.at}: ${open}`);
    for (const pid of world.pids) await this.#compact(pid);
    if (isLast) await judge(this.#bar, world, this.#jobs, this.#person.allowed);
  }

  /** The jobs that the gateway has accepted. */
  get #accepted(): Job[] {
    return this.#jobs.filter((job) => !this.#unsent.has(job));
  }

  #addJobs(): void {
    const offset = this.#random.int(0, 10);
    for (let at = 0; at < JOBS; at++) {
      const kind = this.#kinds[(offset + at) % this.#kinds.length]!;
      const pid = this.#world.pids[at % 2]!;
      const job: Job = { name: `job-${this.#jobs.length + 1}`, kind, pid, runId: randomUUID() };
      this.#jobs.push(job);
      this.#unsent.add(job);
    }
  }

  async #send(job: Job): Promise<void> {
    if (await send(this.#world.client, job)) this.#unsent.delete(job);
  }

  async #compact(pid: string): Promise<void> {
    try {
      await this.#world.client.call("proc.conversation.compact", { pid, summary: "jobs were done", keepLast: 6 });
    } catch (error) {
      if (!(error instanceof ConnectionLost) && !(error instanceof CallError)) throw error;
    }
  }

  /** False if the condition did not hold in time, or the gateway ended. */
  async #pollUntil(withinMs: number, condition: () => Promise<boolean>): Promise<boolean> {
    const { gateway } = this.#world;
    for (const until = performance.now() + withinMs; performance.now() < until && !gateway.isOver; await pause(20)) {
      try {
        if (await condition()) return true;
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        await gateway.endsWithin(1_000);
      }
    }
    return false;
  }

  #unfinished(): string {
    const unsent = [...this.#unsent].map(({ name }) => `${name} was not accepted`);
    return [
      ...unsent,
      ...this.#jobs.filter((job) => ended(this.#world, job) === 0).map(({ name, kind }) => `${name} (${kind}) has not ended`),
    ].join("; ");
  }
}
