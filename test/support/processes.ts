// The CLI as real processes: a gateway, devices and commands, each with its own home. The test ends everything started here with
// `killEverything`.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Started = { child: ChildProcess; pid: number; output: () => string; ended: Promise<number | null>; kill(): Promise<void> };
export type Ran = { code: number | null; out: string; err: string };

const running = new Set<Started>();

export class Cli {
  readonly #file: string;
  readonly #home: string;
  readonly #env: NodeJS.ProcessEnv;

  /** `bundle` is the output folder of tools/bundle.mjs; `home` becomes the user's. */
  constructor(bundle: string, home: string, env: NodeJS.ProcessEnv = {}) {
    this.#file = join(bundle, "gsv.js");
    this.#home = home;
    this.#env = env;
    mkdirSync(home, { recursive: true });
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
    const child = spawn(process.execPath, [this.#file, ...args], {
      env: {
        PATH: process.env.PATH,
        HOME: this.#home,
        GSV_CONFIG: join(this.#home, "config.toml"),
        SHELL: "/bin/sh",
        ...this.#env,
        ...env,
      },
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    const started: Started = {
      child,
      pid: child.pid ?? 0,
      output: () => output,
      ended: once(child, "exit").then(() => {
        running.delete(started);
        return child.exitCode;
      }),
      async kill() {
        child.kill("SIGKILL");
        await started.ended;
      },
    };
    running.add(started);
    return started;
  }

  /** Resolves when its output matches `said`. */
  async startUntil(args: readonly string[], said: RegExp, env: NodeJS.ProcessEnv = {}): Promise<Started> {
    const started = this.start(args, env);
    await new Promise<void>((resolve, reject) => {
      const checkOutput = () => {
        if (said.test(started.output())) resolve();
      };
      started.child.stdout?.on("data", checkOutput);
      started.child.stderr?.on("data", checkOutput);
      void started.ended.then((code) => reject(new Error(`gsv ${args.join(" ")} ended with ${code}: ${started.output()}`)));
    });
    return started;
  }

  async run(args: readonly string[], stdin = "", env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const { child, ended } = this.start(args, env);
    let [out, err] = ["", ""];
    child.stdout?.on("data", (text: string) => (out += text));
    child.stderr?.on("data", (text: string) => (err += text));
    // A command that reads nothing may have ended before this arrives.
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
    const closed = once(child, "close");
    await ended;
    await closed;
    return { code: child.exitCode, out, err };
  }
}

export async function killEverything(): Promise<void> {
  await Promise.all([...running].map((started) => started.kill()));
}

/** Resident memory of a process in bytes; 0 on systems without /proc. */
export function residentBytes(pid: number): number {
  if (!existsSync(`/proc/${pid}/status`)) return 0;
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}
