// Attaches this terminal to one on a device: every key is sent as it is typed, and output is written unfiltered, with its escape
// sequences. However it ends, this terminal is restored.

import { StringDecoder } from "node:string_decoder";
import type { Client } from "../../client/client.ts";
import { type Command, type CommandEnd, RunningCommand } from "./exec.ts";
import { Escape } from "../terminal/escape.ts";
import { Modes } from "../terminal/modes.ts";
import { Problem } from "../terminal/problem.ts";
import { printNote, escapeControls } from "../terminal/terminal.ts";

type Size = { cols: number; rows: number };
/** Why the user leaves a command that continues: by the escape, or by a signal to this program. */
type LeaveOutcome = { left: "detached" | NodeJS.Signals };

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Returns the exit code, or the error if the command was never started. */
export async function attach(client: Client, command: Command): Promise<{ exitCode: number } | { error: string }> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw new Problem("This needs a terminal: stdin or stdout is not a TTY");
  client.keepConnected();
  const modes = new Modes();
  const running = new RunningCommand(client, "sessionId" in command ? command : { ...command, tty: size() }, (_, text) => {
    modes.track(text);
    return new Promise((resolve) => process.stdout.write(text, () => resolve()));
  });
  running.onRemark = (remark) => process.stdout.write(`\r\ngsv: ${escapeControls(remark)}\r\n`);
  const keys = new KeyForwarder(running);
  try {
    if ("sessionId" in command) void forceRedraw(running);
    const outcome = await Promise.race([running.done, keys.left]);
    if ("left" in outcome) return leave(running, outcome, () => keys.close(modes));
    keys.close(modes);
    return toAttachResult(outcome);
  } finally {
    keys.close(modes);
  }
}

class KeyForwarder {
  readonly #running: RunningCommand;
  readonly #decoder = new StringDecoder("utf8");
  readonly #escape = new Escape();
  readonly #undo: (() => void)[] = [];
  readonly left: Promise<LeaveOutcome>;
  #leave: (left: LeaveOutcome) => void = () => {};
  #unsent = "";
  #isSending = false;

  constructor(running: RunningCommand) {
    this.#running = running;
    this.left = new Promise((resolve) => (this.#leave = resolve));
    const { stdin, stdout } = process;
    const onData = (keys: Buffer) => this.#addKeys(this.#decoder.write(keys));
    const onResize = () => void running.send({ resize: size() });
    const onEnd = () => this.#leave({ left: "SIGHUP" });
    stdin.setRawMode(true);
    stdin.on("data", onData).on("end", onEnd).resume();
    stdout.on("resize", onResize);
    this.#undo.push(
      () => stdin.off("data", onData).off("end", onEnd).pause(),
      () => stdout.off("resize", onResize),
      () => stdin.setRawMode(false),
    );
    for (const signal of Object.keys(SIGNALS) as NodeJS.Signals[]) {
      const onSignal = () => this.#leave({ left: signal });
      process.on(signal, onSignal);
      this.#undo.push(() => process.off(signal, onSignal));
    }
  }

  /** Idempotent. */
  close(modes: Modes): void {
    if (this.#undo.length === 0) return;
    for (const undo of this.#undo.splice(0)) undo();
    process.stdout.write(modes.takeResetSequence());
  }

  #addKeys(keys: string): void {
    const { text, isLeaving } = this.#escape.filterKeys(keys);
    this.#unsent += text;
    void this.#send();
    if (isLeaving) this.#leave({ left: "detached" });
  }

  /** Sends one call at a time, so that keys arrive in order; keys typed meanwhile are sent together. */
  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#unsent !== "") {
      const input = this.#unsent;
      this.#unsent = "";
      await this.#running.send({ input });
    }
    this.#isSending = false;
  }
}

function toAttachResult({ exitCode, error }: CommandEnd): { exitCode: number } | { error: string } {
  if (exitCode === undefined) return { error: error ?? "The command did not start" };
  if (error !== undefined) printNote(`gsv: ${error}`);
  return { exitCode };
}

async function leave(running: RunningCommand, { left }: LeaveOutcome, close: () => void): Promise<{ exitCode: number }> {
  const { sessionId } = running;
  // To the command, its terminal has gone.
  if (left === "SIGHUP") await Promise.race([running.send({ signal: "HUP" }), new Promise((resolve) => setTimeout(resolve, 1_000))]);
  close();
  if (left !== "SIGHUP" && sessionId !== null)
    printNote(`gsv: it is still running; to return to it: gsv jobs attach ${sessionId}; to end it: gsv jobs kill ${sessionId}`);
  return { exitCode: left === "detached" ? 0 : SIGNALS[left as keyof typeof SIGNALS] };
}

/** Changes the size and back, because a program redraws itself only when the size changes. */
async function forceRedraw(running: RunningCommand): Promise<void> {
  const { cols, rows } = size();
  await running.send({ resize: { cols, rows: Math.max(1, rows - 1) } });
  await running.send({ resize: { cols, rows } });
}

function size(): Size {
  const { columns, rows } = process.stdout;
  return { cols: columns || 80, rows: rows || 24 };
}
