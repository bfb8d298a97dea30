// The gateway's process as its parent sees it: starts it, kills it, moves its clock, and reads its memory, threads and sockets
// from /proc, where there is one. The program itself is gateway-process.ts.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import type { Answer, Order } from "./gateway-process.ts";

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;
const KILOBYTES = /^Vm(?:RSS|HWM):\s+(\d+) kB/m;

export class GatewayProcess {
  readonly home: string;
  readonly url: string;
  readonly setupCode: string | null;
  readonly #child: ChildProcess;
  readonly #said: { text: string };

  private constructor(home: string, child: ChildProcess, said: { text: string }, { url, setupCode }: Extract<Answer, { kind: "up" }>) {
    this.home = home;
    this.#child = child;
    this.#said = said;
    this.url = url;
    this.setupCode = setupCode;
  }

  static async start(home: string): Promise<GatewayProcess> {
    const { NODE_OPTIONS: _, ...env } = process.env;
    const child = fork(new URL("gateway-process.ts", import.meta.url), [home], { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
    const said = { text: "" };
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text: string) => void (said.text += text));
    const up = await hear(child, "up", said, START_TIMEOUT_MS);
    return new GatewayProcess(home, child, said, up);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Everything it printed. */
  get printed(): string {
    return this.#said.text;
  }

  async moveClock(moveMs: number): Promise<void> {
    await this.#ask({ moveMs }, "moved");
  }

  /** Names that were added to the prototypes of the language. */
  async foreignNames(): Promise<string[]> {
    return (await this.#ask("look", "looked")).foreign;
  }

  /** Null where there is no /proc. */
  countThreads(): number | null {
    return this.#list("task")?.length ?? null;
  }

  countSockets(): number | null {
    return this.#list("fd")?.filter((fd) => this.#isSocket(fd)).length ?? null;
  }

  /** From now on the peak is that of what follows. Returns the bytes now. */
  resetPeak(): number | null {
    if (!existsSync(`/proc/${this.#pid}/clear_refs`)) return null;
    writeFileSync(`/proc/${this.#pid}/clear_refs`, "5");
    return this.#bytes("VmRSS");
  }

  peakBytes(): number | null {
    return existsSync(`/proc/${this.#pid}/status`) ? this.#bytes("VmHWM") : null;
  }

  async kill(): Promise<void> {
    const ended = this.#ended();
    this.#child.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    const ended = this.#ended();
    this.#child.kill("SIGTERM");
    const guard = setTimeout(() => this.#child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(guard);
  }

  get #pid(): number {
    return this.#child.pid ?? 0;
  }

  async #ended(): Promise<void> {
    if (this.isAlive) await once(this.#child, "exit");
  }

  async #ask<K extends Answer["kind"]>(order: Order, kind: K): Promise<Extract<Answer, { kind: K }>> {
    const heard = hear(this.#child, kind, this.#said, START_TIMEOUT_MS);
    this.#child.send(order);
    return heard;
  }

  #list(folder: string): string[] | null {
    const path = `/proc/${this.#pid}/${folder}`;
    return existsSync(path) ? readdirSync(path) : null;
  }

  #isSocket(fd: string): boolean {
    try {
      return readlinkSync(`/proc/${this.#pid}/fd/${fd}`).startsWith("socket:");
    } catch {
      // Closed since it was listed.
      return false;
    }
  }

  #bytes(field: "VmRSS" | "VmHWM"): number {
    const line = readFileSync(`/proc/${this.#pid}/status`, "utf8")
      .split("\n")
      .find((one) => one.startsWith(field));
    return Number(KILOBYTES.exec(line ?? "")?.[1] ?? Number.NaN) * 1024;
  }
}

/** The next message of this kind. */
function hear<K extends Answer["kind"]>(
  child: ChildProcess,
  kind: K,
  said: { text: string },
  timeoutMs: number,
): Promise<Extract<Answer, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: Answer) => {
      if (answer.kind !== kind) return;
      stop();
      resolve(answer as Extract<Answer, { kind: K }>);
    };
    const onExit = () => {
      stop();
      reject(new Error(`the gateway ended by itself: ${said.text.slice(-2_000)}`));
    };
    const guard = setTimeout(() => {
      stop();
      reject(new Error(`the gateway did not say ${kind} in time: ${said.text.slice(-2_000)}`));
    }, timeoutMs);
    const stop = () => {
      clearTimeout(guard);
      child.off("message", onMessage).off("exit", onExit);
    };
    child.on("message", onMessage).on("exit", onExit);
  });
}
