// Runs one program of a test run in its own process group, so that nothing it starts outlives the run. Prints its output as it
// arrives or when it ends, and keeps the first and last lines for the summary.

import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const BIN = join(ROOT, "node_modules/.bin");

const LINES_KEPT = 6;
/** A leftover process of the program may hold its output open. */
const CLOSE_TIMEOUT_MS = 2_000;

export type Ended = { status: number; said: string };
export type Program = { command: string; args: readonly string[]; env: NodeJS.ProcessEnv; isLive?: boolean };

const running = new Set<ChildProcess>();

/**
 * `isLive` prints output as it arrives; otherwise it is printed when the program ends, so that outputs of parallel programs do
 * not mix.
 */
export function execute({ command, args, env, isLive = false }: Program): Promise<Ended> {
  return new Promise((resolve) => {
    const summary = new OutputSummary();
    const pending: [Buffer, NodeJS.WritableStream][] = [];
    const onOutput = (data: Buffer, to: NodeJS.WritableStream) => {
      summary.add(data);
      if (isLive) to.write(data);
      else pending.push([data, to]);
    };
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], env, detached: process.platform !== "win32" });
    running.add(child);
    child.stdout.on("data", (data: Buffer) => onOutput(data, process.stdout));
    child.stderr.on("data", (data: Buffer) => onOutput(data, process.stderr));
    const end = (status: number) => {
      if (!running.delete(child)) return;
      kill(child);
      for (const [data, to] of pending) to.write(data);
      // The dot reporter ends in the middle of a line.
      if (isLive) process.stdout.write("\n");
      resolve({ status, said: summary.text });
    };
    child.on("error", (error) => {
      onOutput(Buffer.from(`${error.message}\n`), process.stderr);
      end(127);
    });
    child.on("exit", (code, signal) => {
      if (signal !== null) onOutput(Buffer.from(`ended by ${signal}\n`), process.stderr);
      const status = code ?? 1;
      child.on("close", () => end(status));
      setTimeout(() => end(status), CLOSE_TIMEOUT_MS).unref();
    });
  });
}

export function killAll(): void {
  for (const child of running) kill(child);
}

/** Kills the child and the rest of its process group. */
function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
  } catch {
    // All have exited.
  }
}

class OutputSummary {
  #first: string[] = [];
  #last: string[] = [];
  #omitted = 0;
  #unfinished = "";

  add(data: Buffer): void {
    const lines = (this.#unfinished + data.toString()).split("\n");
    this.#unfinished = lines.pop() ?? "";
    for (const line of lines) this.#addLine(line);
  }

  get text(): string {
    if (this.#unfinished !== "") this.#addLine(this.#unfinished);
    this.#unfinished = "";
    return [...this.#first, ...(this.#omitted > 0 ? [`... ${this.#omitted} more lines ...`] : []), ...this.#last].join("\n");
  }

  #addLine(line: string): void {
    if (line.trim() === "") return;
    if (this.#first.length < LINES_KEPT) this.#first.push(line);
    else if (this.#last.push(line) > LINES_KEPT) {
      this.#last.shift();
      this.#omitted++;
    }
  }
}
