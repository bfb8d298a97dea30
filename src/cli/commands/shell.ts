// gsv shell: on a device, the user's own shell in a terminal there (attach.ts); on the gateway, and on devices without terminals,
// a prompt. Its lines run one after the other, each in its own shell: shell-state.ts carries state from line to line, exec.ts
// follows a command, keyboard.ts reads input.

import type { Client } from "../../client/client.ts";
import { INTERRUPTED } from "../../hardware/exit.ts";
import { attach } from "../shell/attach.ts";
import { Completer } from "../shell/complete.ts";
import { type CommandEnd, END_OF_INPUT, RunningCommand } from "../shell/exec.ts";
import { historyPath } from "../shell/history.ts";
import { Keyboard, type KeyboardInput } from "../terminal/keyboard.ts";
import { Problem, printError } from "../terminal/problem.ts";
import { escapeExceptColours, Screen } from "../terminal/screen.ts";
import { type Globals, withClient } from "../session/session.ts";
import { ReportExtractor, ShellState } from "../shell/shell-state.ts";
import { printNote, escapeControls } from "../terminal/terminal.ts";
import { isUnfinished } from "../shell/unfinished.ts";
import { runOnTarget } from "./run.ts";

type Flags = Globals & { target?: string };

/** The gateway's shell reports when a command waits for input. A device's does not, so input is sent after this delay. */
const DEVICE_INPUT_MS = 500;
const GATEWAY = "gsv";
const CONTINUATION_PROMPT = "> ";

export async function shell(flags: Flags): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return runOnTarget(flags, []);
  return withClient(flags, async (client) => {
    client.keepConnected();
    const { target = GATEWAY } = flags;
    if (target !== GATEWAY) {
      const outcome = await attach(client, { input: "", target });
      if ("exitCode" in outcome) return outcome.exitCode;
      printNote(`gsv: ${outcome.error}`);
      printNote("gsv: using a plain prompt instead; full-screen programs do not work in it");
    }
    const session = new Session(client, target);
    await session.begin();
    return session.runPrompt();
  });
}

class Session {
  readonly #client: Client;
  readonly #target: string;
  readonly #state: ShellState;
  #keyboard: Keyboard | null = null;
  #isConnected = true;
  /** The output on the cursor's line so far. */
  #lineShown = "";

  constructor(client: Client, target: string) {
    this.#client = client;
    this.#target = target;
    const { home, username } = client.session.identity.process;
    // The home directory on a device is not known yet.
    this.#state = new ShellState({ home: target === GATEWAY ? home : "~", username });
  }

  /** Learns the user and the working directory there, and checks that the user may run commands. */
  async begin(): Promise<void> {
    const { error } = await this.#run(":");
    if (error !== undefined) throw new Problem(error);
  }

  async runPrompt(): Promise<number> {
    const { cwd } = this.#client.session.identity.process;
    const completer = new Completer({ client: this.#client, target: this.#target, cwd: () => this.#state.cwd || cwd });
    const keyboard = new Keyboard({ historyFile: historyPath(), complete: (line) => completer.complete(line) });
    this.#keyboard = keyboard;
    const closed = new Promise<Error | null>((resolve) => {
      this.#client.onStatus = (status, reason) => {
        this.#isConnected = status === "connected";
        if (status === "closed") return resolve(reason);
        const remark = this.#isConnected ? "gsv: reconnected" : "gsv: connection lost; reconnecting";
        keyboard.printAbove(() => printNote(remark));
      };
    });
    try {
      for (let text = ""; ;) {
        const input = await Promise.race([keyboard.ask(text === "" ? this.#prompt() : CONTINUATION_PROMPT), closed]);
        if (input === null || input instanceof Error) throw new Problem(`The gateway closed the connection: ${input?.message ?? ""}`);
        if (input.kind === "end" && text === "") return this.#leave();
        if (input.kind !== "line") {
          // End of input or an interrupt in the middle of a command discards it.
          if (input.kind === "end") printNote("gsv: unexpected end of input");
          this.#state.status = input.kind === "end" ? 2 : INTERRUPTED;
          text = "";
          continue;
        }
        text += (text === "" ? "" : "\n") + input.text;
        if (isUnfinished(text)) continue;
        const line = text;
        text = "";
        if (line.trim() === "") continue;
        if (!this.#isConnected) {
          // A command kept for later would run when nobody expects it.
          printNote("gsv: not connected, so this was not run: wait until it has reconnected, or leave with Ctrl-D");
          continue;
        }
        const code = await this.#execute(line);
        if (code !== null) return code;
      }
    } finally {
      keyboard.close();
    }
  }

  #leave(): number {
    process.stdout.write("exit\n");
    return this.#state.status;
  }

  #prompt(): string {
    const { cwd, home, username, isRoot } = this.#state;
    const folder = cwd === home ? "~" : cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
    return escapeControls(`${username}@${this.#target}:${folder}${isRoot ? "#" : "$"} `);
  }

  /** Returns the exit code if the line left the shell, else null. */
  async #execute(line: string): Promise<number | null> {
    try {
      const { error, exitCode, hasReport, errors } = await this.#run(line);
      if (this.#lineShown !== "") process.stdout.write("\n");
      if (error !== undefined && exitCode !== INTERRUPTED) printNote(`gsv: ${error}`);
      if (hasReport) return null;
      this.#state.status = exitCode ?? 1;
      if (exitCode === undefined && /^(Not found|cwd is not)/.test(error ?? "") && this.#state.cwd !== this.#state.home) {
        this.#state.goHome();
        printNote(`gsv: the working directory no longer exists; now in ${this.#state.home}`);
      }
      const isSyntax = exitCode === 2 && /syntax error|unexpected EOF/.test(errors);
      return /\b(exit|logout)\b/.test(line) && exitCode !== undefined && error === undefined && !isSyntax ? exitCode : null;
    } catch (error) {
      if (this.#client.isClosed) throw error;
      this.#state.status = printError(error);
      return null;
    }
  }

  async #run(line: string): Promise<CommandEnd & { hasReport: boolean; errors: string }> {
    const report = new ReportExtractor();
    const screens = { stdout: new Screen(process.stdout), stderr: new Screen(process.stderr) };
    let errors = "";
    this.#lineShown = "";
    const show = (stream: "stdout" | "stderr", text: string) => {
      const shown = stream === "stderr" ? report.filterText(text) : text;
      if (shown === "") return;
      if (stream === "stderr") errors = (errors + shown).slice(-1_000);
      void screens[stream].write(shown);
      this.#lineShown = escapeExceptColours((this.#lineShown + shown).split("\n").at(-1) ?? "");
      this.#keyboard?.setTextBeforeCursor(this.#lineShown);
    };
    const { cwd } = this.#state;
    const command = { input: this.#state.makeScript(line, report.mark), target: this.#target, cwd };
    const running = new RunningCommand(this.#client, command, show);
    const unread = this.#forwardInput(running);
    try {
      const result = await running.done;
      const rest = report.heldBackText();
      if (rest !== "") void screens.stderr.write(rest);
      if (report.text !== null && !this.#state.applyReport(report.text))
        printNote("gsv: the variables are too large to be kept for the next line; unset some of them");
      if (running.isTruncated) printNote("gsv: some output is missing, because it came too fast");
      return { ...result, hasReport: report.text !== null || running.isTruncated, errors };
    } finally {
      Object.values(screens).forEach((screen) => screen.end());
      if (this.#keyboard !== null) {
        this.#keyboard.onTyped = null;
        this.#keyboard.putBack(unread());
      }
    }
  }

  /** Sends input to the command when it asks for it. The returned function gives the input it never read, for the next prompt. */
  #forwardInput(running: RunningCommand): () => KeyboardInput[] {
    let unread: KeyboardInput[] = [];
    const sendNext = () => {
      const next = unread.shift();
      if (next !== undefined) void running.write(next.kind === "line" ? `${next.text}\n` : END_OF_INPUT);
    };
    running.onWantsInput = sendNext;
    if (this.#keyboard !== null)
      this.#keyboard.onTyped = (input) => {
        // Enter and Ctrl-C have moved the cursor to the next line; Ctrl-D has not.
        if (input.kind !== "end") this.#lineShown = "";
        this.#keyboard?.setTextBeforeCursor(this.#lineShown);
        if (input.kind === "interrupt") {
          unread = [];
          return running.interrupt();
        }
        unread.push(input);
        if (running.wantsInput) sendNext();
        else if (this.#target !== GATEWAY) setTimeout(sendNext, DEVICE_INPUT_MS);
      };
    return () => unread;
  }
}
