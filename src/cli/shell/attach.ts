// This terminal, joined to one on a device: every key goes there as it is typed, and what comes back is obeyed, as a terminal
// does. Whatever way it ends, this terminal is left as it was found.

import { StringDecoder } from "node:string_decoder";
import type { Client } from "../../client/client.ts";
import { type Command, type Ended, Running } from "./exec.ts";
import { Escape } from "../terminal/escape.ts";
import { Modes } from "../terminal/modes.ts";
import { Problem } from "../terminal/problem.ts";
import { note, printable } from "../terminal/terminal.ts";

type Size = { cols: number; rows: number };
/** Why somebody leaves a command that goes on: they said so, or were told to. */
type Left = { left: "detached" | NodeJS.Signals };

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** The exit code, or the failure where the command was never started. */
export async function attach(client: Client, command: Command): Promise<{ exitCode: number } | { error: string }> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw new Problem("This needs a terminal here, and standard input or output is none");
  client.keepConnected();
  const modes = new Modes();
  const running = new Running(client, "sessionId" in command ? command : { ...command, tty: size() }, (_, text) => {
    modes.see(text);
    return new Promise((resolve) => process.stdout.write(text, () => resolve()));
  });
  running.onRemark = (remark) => process.stdout.write(`\r\ngsv: ${printable(remark)}\r\n`);
  const keys = new Keys(running);
  try {
    if ("sessionId" in command) void drawAnew(running);
    const outcome = await Promise.race([running.done, keys.left]);
    if ("left" in outcome) return leave(running, outcome, () => keys.close(modes));
    keys.close(modes);
    return told(outcome);
  } finally {
    keys.close(modes);
  }
}

class Keys {
  readonly #running: Running;
  readonly #decoder = new StringDecoder("utf8");
  readonly #escape = new Escape();
  readonly #undo: (() => void)[] = [];
  readonly left: Promise<Left>;
  #leave: (left: Left) => void = () => {};
  #typed = "";
  #isSending = false;

  constructor(running: Running) {
    this.#running = running;
    this.left = new Promise((resolve) => (this.#leave = resolve));
    const { stdin, stdout } = process;
    const typed = (keys: Buffer) => this.#take(this.#decoder.write(keys));
    const resized = () => void running.send({ resize: size() });
    const over = () => this.#leave({ left: "SIGHUP" });
    stdin.setRawMode(true);
    stdin.on("data", typed).on("end", over).resume();
    stdout.on("resize", resized);
    this.#undo.push(
      () => stdin.off("data", typed).off("end", over).pause(),
      () => stdout.off("resize", resized),
      () => stdin.setRawMode(false),
    );
    for (const signal of Object.keys(SIGNALS) as NodeJS.Signals[]) {
      const told = () => this.#leave({ left: signal });
      process.on(signal, told);
      this.#undo.push(() => process.off(signal, told));
    }
  }

  /** Once is enough, and twice does no harm. */
  close(modes: Modes): void {
    if (this.#undo.length === 0) return;
    for (const undo of this.#undo.splice(0)) undo();
    process.stdout.write(modes.undo());
  }

  #take(keys: string): void {
    const { text, isLeaving } = this.#escape.pass(keys);
    this.#typed += text;
    void this.#send();
    if (isLeaving) this.#leave({ left: "detached" });
  }

  /** One after the other, so that they arrive in order; what is typed meanwhile goes together. */
  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#typed !== "") {
      const input = this.#typed;
      this.#typed = "";
      await this.#running.send({ input });
    }
    this.#isSending = false;
  }
}

function told({ exitCode, error }: Ended): { exitCode: number } | { error: string } {
  if (exitCode === undefined) return { error: error ?? "The command was not started" };
  if (error !== undefined) note(`gsv: ${error}`);
  return { exitCode };
}

async function leave(running: Running, { left }: Left, close: () => void): Promise<{ exitCode: number }> {
  const { sessionId } = running;
  // Its terminal is gone, as far as the command is concerned.
  if (left === "SIGHUP") await Promise.race([running.send({ signal: "HUP" }), new Promise((resolve) => setTimeout(resolve, 1_000))]);
  close();
  if (left !== "SIGHUP" && sessionId !== null)
    note(`gsv: left it running: gsv jobs attach ${sessionId} goes on with it, gsv jobs kill ${sessionId} ends it`);
  return { exitCode: left === "detached" ? 0 : SIGNALS[left as keyof typeof SIGNALS] };
}

/** A program draws itself anew when the size changes, and only then. */
async function drawAnew(running: Running): Promise<void> {
  const { cols, rows } = size();
  await running.send({ resize: { cols, rows: Math.max(1, rows - 1) } });
  await running.send({ resize: { cols, rows } });
}

function size(): Size {
  const { columns, rows } = process.stdout;
  return { cols: columns || 80, rows: rows || 24 };
}
