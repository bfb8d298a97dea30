// A command that runs on a target, as whoever waits for it sees it: what it puts out comes piece by piece, text can be
// typed to it, and it can be interrupted. Looks for its output follow one another, each saying which answer came before, so that
// nothing is missed where the connection was lost; what is typed is sent beside them.

import { CallError, type Calls, type Client, ConnectionLost } from "../../client/client.ts";
import { INTERRUPTED } from "../../hardware/exit.ts";

type Args = Calls["shell.exec"]["args"];
type Result = Calls["shell.exec"]["result"];

/** One to start, or one that runs already. */
export type Command = Pick<Args, "input" | "target" | "cwd" | "timeout" | "tty"> | { sessionId: string; target?: string };

/** `error` says why it ended, where it did not end by itself; there is no code where it never began. */
export type Ended = { exitCode?: number; error?: string };

/** Resolves when there is room for more. */
export type Show = (stream: "stdout" | "stderr", text: string) => Promise<void> | void;

export const INTERRUPT = "\u0003";
export const END_OF_INPUT = "\u0004";

/** A command that waits for input may end all the same, at its time limit. */
const IDLE_MS = 1_000;
/** Between two looks while its device is away. */
const AWAY_MS = 1_000;

export class Running {
  readonly #client: Client;
  readonly #target: string | undefined;
  readonly #show: Show;
  readonly #settle: (ended: Ended) => void;
  readonly #fail: (error: unknown) => void;
  /** Fails where the gateway refuses, or the connection is lost for good. */
  readonly done: Promise<Ended>;
  #sessionId: string | null = null;
  #part = 0;
  #isOver = false;
  #isAway = false;
  #isInterrupted = false;
  #wantsInput = false;
  #wake: () => void = () => {};
  /** There is an answer, so there is a session, or an end. */
  #begin: () => void = () => {};
  readonly #begun = new Promise<void>((resolve) => (this.#begin = resolve));
  isTruncated = false;
  /** Told whenever the command is found waiting for input. */
  onWantsInput: () => void = () => {};
  /** Told of what keeps it from being heard, and that it is heard again. */
  onRemark: (remark: string) => void = () => {};

  constructor(client: Client, command: Command, show: Show) {
    this.#client = client;
    this.#target = command.target;
    this.#show = show;
    let tell: [(ended: Ended) => void, (error: unknown) => void] = [() => {}, () => {}];
    this.done = new Promise((resolve, reject) => (tell = [resolve, reject]));
    const [settle, fail] = tell.map((say) => (outcome: never) => {
      this.#isOver = true;
      say(outcome);
      this.#begin();
      this.#wake();
    }) as typeof tell;
    this.#settle = settle;
    this.#fail = fail;
    this.#follow(command).catch(fail);
  }

  get wantsInput(): boolean {
    return this.#wantsInput;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Null before it has begun. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Resolves when the command has room for more. A device takes it once, however often the connection is lost meanwhile. */
  async write(text: string): Promise<void> {
    await this.#begun;
    if (!this.#isOver) await this.#send({ input: text, ...this.#named() }).catch(this.#fail);
  }

  /** Keys, a size or a signal; where the connection is lost meanwhile, nobody knows whether it arrived. */
  async send(sent: Pick<Args, "resize" | "signal"> & { input?: string }): Promise<void> {
    await this.#begun;
    if (this.#isOver) return;
    await this.#send(sent).catch((error: unknown) => {
      if (!this.#mayComeBack(error)) this.#fail(error);
    });
  }

  /** The first time it asks, the second time it waits no longer. */
  interrupt(): void {
    if (this.#isInterrupted) return this.#settle({ exitCode: INTERRUPTED, error: "Interrupted" });
    this.#isInterrupted = true;
    if (this.#sessionId !== null) void this.#send({ input: INTERRUPT, ...this.#named() }).catch(this.#fail);
  }

  /** Where the device is named, the client has a key for the call. */
  #named(): { target?: string } {
    return this.#target === undefined ? {} : { target: this.#target };
  }

  async #follow(command: Command): Promise<void> {
    if ("sessionId" in command) this.#sessionId = command.sessionId;
    else await this.#take(await this.#look(command));
    if (this.#isInterrupted && !this.#isOver) void this.#send({ input: INTERRUPT, ...this.#named() }).catch(this.#fail);
    this.#begin();
    while (!this.#isOver) {
      if (this.#wantsInput) await this.#pause();
      else await this.#lookAgain();
    }
  }

  /** Looking again is safe after a cut: what an answer held that got lost is told once more. */
  async #lookAgain(): Promise<void> {
    try {
      const result = await this.#look({ sessionId: this.#sessionId ?? "", input: "" });
      if (this.#isAway) this.onRemark("connected again");
      this.#isAway = false;
      await this.#take(result);
    } catch (error) {
      if (this.#isOver) return;
      if (!this.#mayComeBack(error)) throw error;
      const reason = error instanceof CallError ? `${error.message}; waiting for it` : "the connection was lost; trying to get it back";
      if (!this.#isAway) this.onRemark(reason);
      this.#isAway = true;
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
    }
  }

  #mayComeBack(error: unknown): boolean {
    if (error instanceof CallError) return error.code === 503 || error.code === 504;
    return error instanceof ConnectionLost && !this.#client.isClosed;
  }

  #look(args: Args): Promise<Result> {
    // A terminal is there before anything is shown on it, and what is typed goes there at once.
    const until = args.tty === undefined ? "output" : "sent";
    return this.#client.call("shell.exec", { ...args, streams: true, until, after: this.#part });
  }

  async #send(sent: Pick<Args, "resize" | "signal" | "target"> & { input?: string }): Promise<void> {
    this.#wantsInput = false;
    this.#wake();
    await this.#client.call("shell.exec", { input: "", ...sent, sessionId: this.#sessionId ?? "", until: "sent" });
  }

  async #take(result: Result): Promise<void> {
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

  /** Until something is typed, or for a while; then it is looked at again. */
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
