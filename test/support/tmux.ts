// A real terminal with a program in it: a test sends keys and reads the screen, scrollback included. The tmux server is not a
// child of the test, so at-end.ts stops it if the test is killed.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { runAtEnd } from "./at-end.ts";

export const hasTmux = spawnSync("sh", ["-c", "command -v tmux"]).status === 0;

export class Terminal {
  readonly #socket: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #cancelAtEnd: () => void;

  /** Runs the command, and then prints its exit code. */
  constructor(folder: string, number: number, env: NodeJS.ProcessEnv, command: readonly string[]) {
    this.#socket = join(folder, `tmux-${number}`);
    this.#env = env;
    const assignments = Object.entries(env).map(([name, value]) => `${name}='${value ?? ""}'`);
    const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    const line = `env -i TERM=screen ${assignments.join(" ")} ${words.join(" ")}; echo code=$?; exec sh`;
    this.#cancelAtEnd = runAtEnd('tmux -S "$1" kill-server', this.#socket);
    this.#tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", line);
  }

  keys(...names: string[]): void {
    this.#tmux("send-keys", ...names);
  }

  type(text: string): void {
    this.#tmux("send-keys", "-l", text);
  }

  say(text: string): void {
    this.type(text);
    this.keys("Enter");
  }

  /** Screen and scrollback, with wrapped lines joined. */
  screen(): string {
    return this.#tmux("capture-pane", "-p", "-J", "-S", "-")
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trim();
  }

  async shows(wanted: string | RegExp): Promise<void> {
    if (typeof wanted === "string") await expect.poll(() => this.screen()).toContain(wanted);
    else await expect.poll(() => this.screen()).toMatch(wanted);
  }

  close(): void {
    this.#tmux("kill-server");
    this.#cancelAtEnd();
  }

  #tmux(...args: string[]): string {
    const env = { ...this.#env, TERM: "xterm-256color" };
    return spawnSync("tmux", ["-S", this.#socket, ...args], { encoding: "utf8", env }).stdout;
  }
}
