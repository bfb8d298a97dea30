// One program of a test run: what it says is passed on as it comes, and its first and last lines are kept for the sum at
// the end. Nobody's dotfiles reach it.

import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withEmptyHome } from "../../test/support/empty-home.ts";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const BIN = join(ROOT, "node_modules/.bin");

const LINES_KEPT = 6;
/** What a program has left running may hold its output open. */
const LAST_WORDS_MS = 2_000;

export type Ended = { status: number; said: string };

const running = new Set<ChildProcess>();

export function execute(home: string, command: string, args: readonly string[]): Promise<Ended> {
  const env = withEmptyHome(home, { ...process.env, PATH: `${BIN}:${process.env.PATH}` });
  return new Promise((resolve) => {
    const said = new Said();
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], env });
    running.add(child);
    child.stdout.on("data", (data: Buffer) => said.add(data, process.stdout));
    child.stderr.on("data", (data: Buffer) => said.add(data, process.stderr));
    const end = (status: number) => {
      running.delete(child);
      resolve({ status, said: said.text });
    };
    child.on("error", (error) => {
      said.add(Buffer.from(`${error.message}\n`), process.stderr);
      end(127);
    });
    child.on("exit", (code, signal) => {
      if (signal !== null) said.add(Buffer.from(`ended by ${signal}\n`), process.stderr);
      const status = code ?? 1;
      child.on("close", () => end(status));
      setTimeout(() => end(status), LAST_WORDS_MS).unref();
    });
  });
}

export function endAll(): void {
  for (const child of running) child.kill();
}

class Said {
  #first: string[] = [];
  #last: string[] = [];
  #left = 0;
  #unfinished = "";

  add(data: Buffer, to: NodeJS.WritableStream): void {
    to.write(data);
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
