// The gateway that is killed: the real CLI, bundled with fault switches, in its own process. Starts it, kills it, and detects
// when it ends unexpectedly.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export type Faults = {
  crashAt?: string;
  ackEarly?: boolean;
  effectTwice?: boolean;
  fullAt?: number;
  repoFullAt?: number;
  pagesMax?: number;
  repoPagesMax?: number;
  blobs?: string;
  fullWhile?: string;
  /** The size at which a new segment of the journal begins. */
  journalBytes?: number;
};

export class Gateway {
  readonly startedAt = performance.now();
  /** Its URL, or null if it ended before it had one. */
  readonly ready: Promise<string | null>;
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #output = "";
  #isOver = false;
  #wasKilled = false;

  constructor(bundle: string, home: string, faults: Faults = {}, port = 0, flags: readonly string[] = []) {
    const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: home };
    if (faults.crashAt !== undefined) env.GSV_CRASH_AT = faults.crashAt;
    if (faults.ackEarly === true) env.GSV_ACK_EARLY = "1";
    if (faults.effectTwice === true) env.GSV_EFFECT_TWICE = "1";
    if (faults.fullAt !== undefined) env.GSV_FULL_AT = String(faults.fullAt);
    if (faults.repoFullAt !== undefined) env.GSV_REPO_FULL_AT = String(faults.repoFullAt);
    if (faults.pagesMax !== undefined) env.GSV_PAGES_MAX = String(faults.pagesMax);
    if (faults.repoPagesMax !== undefined) env.GSV_REPO_PAGES_MAX = String(faults.repoPagesMax);
    if (faults.blobs !== undefined) env.GSV_BLOB_FAULT = faults.blobs;
    if (faults.fullWhile !== undefined) env.GSV_FULL_WHILE = faults.fullWhile;
    if (faults.journalBytes !== undefined) env.GSV_JOURNAL_BYTES = String(faults.journalBytes);
    const child = spawn(process.execPath, [`${bundle}/gsv.js`, "up", "--home", home, "--port", String(port), ...flags], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    alive.add(this);
    this.ended = once(child, "exit").then(() => {
      this.#isOver = true;
      alive.delete(this);
    });
    this.ready = new Promise((resolve) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
        const url = /GSV is up at (\S+)/.exec(this.#output)?.[1];
        if (url !== undefined) resolve(url);
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => void (this.#output += text));
      void this.ended.then(() => resolve(null));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it was alive when this process killed it: then its crash point was not reached. */
  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  /** Why its end was unexpected, or null. Only once it has ended. */
  get complaint(): string | null {
    const { exitCode, signalCode } = this.#child;
    if (signalCode === "SIGKILL" || exitCode === 0) return null;
    return `the gateway ended by itself (exit code ${exitCode}, signal ${signalCode}): ${this.#output.slice(-2000)}`;
  }

  async kill(): Promise<void> {
    this.#wasKilled ||= !this.#isOver;
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  /** Sends SIGTERM; kills it and returns false if that takes too long. */
  async stop(timeoutMs: number): Promise<boolean> {
    this.#child.kill("SIGTERM");
    const isDown = await this.endsWithin(timeoutMs);
    if (!isDown) await this.kill();
    return isDown;
  }

  async endsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([this.ended, timeout]);
    clearTimeout(timer);
    return this.#isOver;
  }
}

const alive = new Set<Gateway>();

/** Leaves no gateway behind. */
export async function killAll(): Promise<void> {
  await Promise.all([...alive].map((gateway) => gateway.kill()));
}
