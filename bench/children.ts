// The processes of a run and their scratch directory: pinned to a CPU where the system supports it, and removed when the bench
// ends, however it ends.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Job, Outcome } from "./load.ts";
import type { Measure } from "./stats.ts";

export type Server = { name: string; port: number; pid: number; startMs: number; stop(): Promise<void> };
export type Load = { run(job: Job): Promise<Measure>; stop(): void };

type Exit = { ms: number; code: number | null; output: string };

const SERVER_CPU = "0";
const LOAD_CPU = "1";
const UP_MS = 20_000;
const STOP_MS = 5_000;
/** No job takes longer, even with generous arguments. */
const JOB_MS = 120_000;

const canPin = process.platform === "linux" && availableParallelism() >= 2 && spawnSync("taskset", ["-V"]).status === 0;

/** How processes are pinned, for the report. */
export const pinning = canPin ? `servers on CPU ${SERVER_CPU}, load on CPU ${LOAD_CPU} (taskset)` : "not pinned";

export class Children {
  readonly scratch = mkdtempSync(join(tmpdir(), "gsv-bench-"));
  readonly #alive = new Set<ChildProcess>();
  #folders = 0;

  constructor() {
    process.on("exit", () => this.#clean());
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
  }

  /** A new empty directory, removed at the end. */
  folder(): string {
    const path = join(this.scratch, String(this.#folders++));
    mkdirSync(path);
    return path;
  }

  /** Starts a server that prints "... is up at http://host:port" to stdout. */
  server(name: string, args: string[], where: "load" | "server" = "server"): Promise<Server> {
    return this.#start(name, args, / is up at \w+:\/\/[^\s]*:(\d+)\n/, where);
  }

  /** Starts a program that connects to a server and prints its address. Such programs run on the CPU of the load. */
  outward(name: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Server> {
    return this.#start(name, args, / is connected to \w+:\/\/[^\s]*:(\d+)/, "load", env);
  }

  #start(name: string, args: string[], ready: RegExp, where: "load" | "server", env: NodeJS.ProcessEnv = {}): Promise<Server> {
    const startedAt = performance.now();
    const cpu = where === "load" ? LOAD_CPU : SERVER_CPU;
    const child = this.#spawn(cpu, [process.execPath, ...args], ["pipe", "pipe", "pipe"], env);
    return new Promise((resolve, reject) => {
      let output = "";
      const fail = (why: string) => {
        child.kill("SIGKILL");
        reject(new Error(`${name} did not start: ${why}\n${output}`));
      };
      const timer = setTimeout(() => fail("it took too long"), UP_MS);
      child.on("error", (error) => fail(error.message));
      child.on("exit", (code) => fail(`it ended with ${code}`));
      child.stderr!.on("data", (chunk: Buffer) => (output += chunk.toString()));
      child.stdout!.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        const port = ready.exec(output)?.[1];
        if (port === undefined) return;
        clearTimeout(timer);
        child.removeAllListeners("exit");
        resolve({ name, port: Number(port), pid: child.pid!, startMs: performance.now() - startedAt, stop: () => stop(child) });
      });
    });
  }

  load(file: string): Load {
    const child = this.#spawn(LOAD_CPU, [process.execPath, file], ["ignore", "inherit", "inherit", "ipc"]);
    return {
      run: (job) =>
        new Promise((resolve, reject) => {
          const fail = (why: string) => reject(new Error(`The load failed at ${job.do}: ${why}`));
          const timer = setTimeout(() => fail("it took too long"), JOB_MS);
          const failExit = (code: number | null) => fail(`it ended with ${code}`);
          child.once("exit", failExit);
          child.once("message", (outcome: Outcome) => {
            clearTimeout(timer);
            child.off("exit", failExit);
            if ("error" in outcome) fail(outcome.error);
            else resolve(outcome.measure);
          });
          child.send(job);
        }),
      stop: () => void child.kill(),
    };
  }

  /** Runs a Node program to its end and returns its wall time and output. */
  program(args: string[], env: NodeJS.ProcessEnv = {}, where: "load" | "server" = "load"): Promise<Exit> {
    return this.#runToEnd([process.execPath, ...args], env, where === "load" ? LOAD_CPU : SERVER_CPU);
  }

  /** Runs any command to its end; throws if its exit code is not 0. */
  async command(command: string[], where: "load" | "server" = "server"): Promise<Exit> {
    const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" };
    const exit = await this.#runToEnd(command, env, where === "load" ? LOAD_CPU : SERVER_CPU);
    if (exit.code !== 0) throw new Error(`${command.join(" ")} ended with ${exit.code}:\n${exit.output}`);
    return exit;
  }

  #runToEnd(command: string[], env: NodeJS.ProcessEnv, cpu: string): Promise<Exit> {
    const startedAt = performance.now();
    const child = this.#spawn(cpu, command, ["ignore", "pipe", "pipe"], env);
    return new Promise((resolve, reject) => {
      let output = "";
      const timer = setTimeout(() => child.kill("SIGKILL"), JOB_MS);
      child.on("error", reject);
      child.stdout!.on("data", (chunk: Buffer) => (output += chunk.toString()));
      child.stderr!.on("data", (chunk: Buffer) => (output += chunk.toString()));
      child.on("close", (code) => {
        clearTimeout(timer);
        resolve({ ms: performance.now() - startedAt, code, output });
      });
    });
  }

  #spawn(cpu: string, program: string[], stdio: ("pipe" | "ignore" | "inherit" | "ipc")[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const command = [...(canPin ? ["taskset", "-c", cpu] : []), ...program];
    const child = spawn(command[0]!, command.slice(1), { stdio, env: { ...process.env, NODE_NO_WARNINGS: "1", ...env } });
    this.#alive.add(child);
    child.on("exit", () => this.#alive.delete(child));
    return child;
  }

  #clean(): void {
    for (const child of this.#alive) child.kill("SIGKILL");
    rmSync(this.scratch, { recursive: true, force: true });
  }
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill("SIGTERM");
  });
}
