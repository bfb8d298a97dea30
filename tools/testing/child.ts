// One program of a test run, in a process group of its own so that nothing it starts outlives the run. What it says is
// passed on as it comes or when it ends, and its first and last lines are kept for the summary.

import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const BIN = join(ROOT, "node_modules/.bin");

const LINES_KEPT = 6;
/** What a program has left running may hold its output open. */
const LAST_WORDS_MS = 2_000;

export type Ended = { status: number; said: string };
export type Program = { command: string; args: readonly string[]; env: NodeJS.ProcessEnv; isLive?: boolean };

const running = new Set<ChildProcess>();

/** `isLive` passes output on as it comes; else it is printed when the program ends, so that programs side by side do not mix. */
export function execute({ command, args, env, isLive = false }: Program): Promise<Ended> {
  return new Promise((resolve) => {
    const said = new Said();
    const held: [Buffer, NodeJS.WritableStream][] = [];
    const hear = (data: Buffer, to: NodeJS.WritableStream) => {
      said.add(data);
      if (isLive) to.write(data);
      else held.push([data, to]);
    };
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], env, detached: process.platform !== "win32" });
    running.add(child);
    child.stdout.on("data", (data: Buffer) => hear(data, process.stdout));
    child.stderr.on("data", (data: Buffer) => hear(data, process.stderr));
    const end = (status: number) => {
      if (!running.delete(child)) return;
      kill(child);
      for (const [data, to] of held) to.write(data);
      // Dots end in the middle of a line, and whatever is said next begins one.
      if (isLive) process.stdout.write("\n");
      resolve({ status, said: said.text });
    };
    child.on("error", (error) => {
      hear(Buffer.from(`${error.message}\n`), process.stderr);
      end(127);
    });
    child.on("exit", (code, signal) => {
      if (signal !== null) hear(Buffer.from(`ended by ${signal}\n`), process.stderr);
      const status = code ?? 1;
      child.on("close", () => end(status));
      setTimeout(() => end(status), LAST_WORDS_MS).unref();
    });
  });
}

export function killAll(): void {
  for (const child of running) kill(child);
}

/** With everything of its group that is still there. */
function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
  } catch {
    // All gone.
  }
}

class Said {
  #first: string[] = [];
  #last: string[] = [];
  #left = 0;
  #unfinished = "";

  add(data: Buffer): void {
    const lines = (this.#unfinished + data.toString()).split("\n");
    this.#unfinished = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  get text(): string {
    if (this.#unfinished !== "") this.#line(this.#unfinished);
    this.#unfinished = "";
    return [...this.#first, ...(this.#left > 0 ? [`... ${this.#left} more lines ...`] : []), ...this.#last].join("\n");
  }

  #line(line: string): void {
    if (line.trim() === "") return;
    if (this.#first.length < LINES_KEPT) this.#first.push(line);
    else if (this.#last.push(line) > LINES_KEPT) {
      this.#last.shift();
      this.#left++;
    }
  }
}
