// A running command on a target, as its caller sees it: output arrives piece by piece, and the caller can send input and
// interrupt it. Polls for output follow one another, and each names the last answer received, so that a lost connection loses no
// output; input is sent in parallel.

import { CallError, type Calls, type Client, ConnectionLost } from "../../client/client.ts";
import { INTERRUPTED } from "../../hardware/exit.ts";

type Args = Calls["shell.exec"]["args"];
type Result = Calls["shell.exec"]["result"];

/** A command to start, or one that runs already. */
export type Command = Pick<Args, "input" | "target" | "cwd" | "timeout" | "tty"> | { sessionId: string; target?: string };

/** `error` says why it ended, if it did not end by itself; there is no exit code if it never started. */
export type CommandEnd = { exitCode?: number; error?: string };

/** Resolves when there is room for more. */
export type ShowOutput = (stream: "stdout" | "stderr", text: string) => Promise<void> | void;

export const INTERRUPT = "\u0003";
export const END_OF_INPUT = "\u0004";

/** How often to poll a command that waits for input: it may still end, at its timeout. */
const IDLE_MS = 1_000;
/** Between two polls while its device is offline. */
const OFFLINE_MS = 1_000;

export class RunningCommand {
  readonly #client: Client;
  readonly #target: string | undefined;
  readonly #show: ShowOutput;
  readonly #settle: (ended: CommandEnd) => void;
  readonly #fail: (error: unknown) => void;
  /** Rejects if the gateway refuses a call, or the connection is lost for good. */
  readonly done: Promise<CommandEnd>;
  #sessionId: string | null = null;
  #part = 0;
  #isOver = false;
  #isOffline = false;
  #isInterrupted = false;
  #wantsInput = false;
  #wake: () => void = () => {};
  /** Called at the first answer, which brings a session or an end. */
  #markStarted: () => void = () => {};
  readonly #started = new Promise<void>((resolve) => (this.#markStarted = resolve));
  isTruncated = false;
  /** Called when a poll finds that the command waits for input. */
  onWantsInput: () => void = () => {};
  /** Called when the command cannot be reached, and when it can be reached again. */
  onRemark: (remark: string) => void = () => {};

  constructor(client: Client, command: Command, show: ShowOutput) {
    this.#client = client;
    this.#target = command.target;
    this.#show = show;
    let settlers: [(ended: CommandEnd) => void, (error: unknown) => void] = [() => {}, () => {}];
    this.done = new Promise((resolve, reject) => (settlers = [resolve, reject]));
    const [settle, fail] = settlers.map((settler) => (outcome: never) => {
      this.#isOver = true;
      settler(outcome);
      this.#markStarted();
      this.#wake();
    }) as typeof settlers;
    this.#settle = settle;
    this.#fail = fail;
    this.#pollToEnd(command).catch(fail);
  }

  get wantsInput(): boolean {
    return this.#wantsInput;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Null before the command has started. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Resolves when the command has room for more. A device receives the text once, however often the connection is lost meanwhile. */
  async write(text: string): Promise<void> {
    await this.#started;
    if (!this.#isOver) await this.#send({ input: text, ...this.#targetArgs() }).catch(this.#fail);
  }

  /** Sends keys, a size or a signal; if the connection is lost meanwhile, it is unknown whether they arrived. */
  async send(args: Pick<Args, "resize" | "signal"> & { input?: string }): Promise<void> {
    await this.#started;
    if (this.#isOver) return;
    await this.#send(args).catch((error: unknown) => {
      if (!this.#isTransient(error)) this.#fail(error);
    });
  }

  /** The first call interrupts the command; the second stops waiting for it. */
  interrupt(): void {
    if (this.#isInterrupted) return this.#settle({ exitCode: INTERRUPTED, error: "Interrupted" });
    this.#isInterrupted = true;
    if (this.#sessionId !== null) void this.#send({ input: INTERRUPT, ...this.#targetArgs() }).catch(this.#fail);
  }

  /** With a target in the arguments, the client can give the call an idempotency key. */
  #targetArgs(): { target?: string } {
    return this.#target === undefined ? {} : { target: this.#target };
  }

  async #pollToEnd(command: Command): Promise<void> {
    if ("sessionId" in command) this.#sessionId = command.sessionId;
    else await this.#handleResult(await this.#poll(command));
    if (this.#isInterrupted && !this.#isOver) void this.#send({ input: INTERRUPT, ...this.#targetArgs() }).catch(this.#fail);
    this.#markStarted();
    while (!this.#isOver) {
      if (this.#wantsInput) await this.#pause();
      else await this.#pollAgain();
    }
  }

  /** Polling again is safe after a disconnect: the output of a lost answer is sent again. */
  async #pollAgain(): Promise<void> {
    try {
      const result = await this.#poll({ sessionId: this.#sessionId ?? "", input: "" });
      if (this.#isOffline) this.onRemark("reconnected");
      this.#isOffline = false;
      await this.#handleResult(result);
    } catch (error) {
      if (this.#isOver) return;
      if (!this.#isTransient(error)) throw error;
      const reason = error instanceof CallError ? `${error.message}; waiting for it` : "connection lost; reconnecting";
      if (!this.#isOffline) this.onRemark(reason);
      this.#isOffline = true;
      await new Promise((resolve) => setTimeout(resolve, OFFLINE_MS));
    }
  }

  #isTransient(error: unknown): boolean {
    if (error instanceof CallError) return error.code === 503 || error.code === 504;
    return error instanceof ConnectionLost && !this.#client.isClosed;
  }

  #poll(args: Args): Promise<Result> {
    // The start of a terminal is answered before it has output, because keys are sent to it at once.
    const until = args.tty === undefined ? "output" : "sent";
    return this.#client.call("shell.exec", { ...args, streams: true, until, after: this.#part });
  }

  async #send(args: Pick<Args, "resize" | "signal" | "target"> & { input?: string }): Promise<void> {
    this.#wantsInput = false;
    this.#wake();
    await this.#client.call("shell.exec", { input: "", ...args, sessionId: this.#sessionId ?? "", until: "sent" });
  }

  async #handleResult(result: Result): Promise<void> {
    const { stdout = result.output, stderr = "", truncated = false, part = this.#part } = result;
    this.isTruncated ||= truncated;
    this.#part = part;
    if (stdout !== "") await this.#show("stdout", stdout);
    if (stderr !== "") await this.#show("stderr", stderr);
    if (this.#isOver) return;
    if (result.status === "running") {
      this.#sessionId = result.sessionId;
      this.#wantsInput = result.wantsInput === true;
      if (this.#wantsInput) this.onWantsInput();
      return;
    }
    const { exitCode } = result;
    const error = result.status === "failed" && result.error !== `Command exited with code ${exitCode}` ? result.error : undefined;
    this.#settle({ ...(exitCode === undefined ? {} : { exitCode }), ...(error === undefined ? {} : { error }) });
  }

  /** Waits until input is sent, or for a while, before the next poll. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake(), IDLE_MS);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wantsInput = false;
        resolve();
      };
    });
  }
}
