// A command that runs on a target, as whoever waits for it sees it: what it puts out comes piece by piece, text can be
// typed to it, and it can be interrupted. Calls for its output follow one another; what is typed is sent beside them.

import { type Calls, type Client, ConnectionLost } from "../client/client.ts";

type Result = Calls["shell.exec"]["result"];

export type Command = { input: string; target?: string; cwd?: string; timeout?: number };

/** `error` says why it ended, where it did not end by itself; there is no code where it never began. */
export type Ended = { exitCode?: number; error?: string };

export type Show = (stream: "stdout" | "stderr", text: string) => void;

export const INTERRUPT = "\u0003";
export const END_OF_INPUT = "\u0004";
export const INTERRUPTED = 130;

/** How long a call waits: shortly while there is output, longer when the command is quiet. */
const WAIT_MS_MIN = 200;
const WAIT_MS_MAX = 2_000;
/** An answer that came this much sooner came because the command wants input. */
const EARLY_MS = 30;
/** A command that waits for input may end all the same, at its time limit. */
const IDLE_MS = 1_000;

export class Running {
  readonly #client: Client;
  readonly #target: { target?: string };
  readonly #show: Show;
  readonly #settle: (ended: Ended) => void;
  readonly #fail: (error: unknown) => void;
  /** Fails where the gateway refuses, or the connection is lost for good. */
  readonly done: Promise<Ended>;
  #sessionId: string | null = null;
  #isOver = false;
  #isInterrupted = false;
  #wantsInput = false;
  #underWay = 0;
  #waitMs = WAIT_MS_MIN;
  #wake: () => void = () => {};
  /** There is an answer, so there is a session, or an end. */
  #begin: () => void = () => {};
  readonly #begun = new Promise<void>((resolve) => (this.#begin = resolve));
  isTruncated = false;
  /** Told whenever the command is found waiting for input. */
  onWantsInput: () => void = () => {};

  constructor(client: Client, { target, ...command }: Command, show: Show) {
    this.#client = client;
    this.#target = target === undefined ? {} : { target };
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

  /** Resolves when the command has had a moment to read it. */
  async write(text: string): Promise<void> {
    await this.#begun;
    if (!this.#isOver) await this.#send(text);
  }

  /** The first time it asks, the second time it waits no longer. */
  interrupt(): void {
    if (this.#isInterrupted) return this.#settle({ exitCode: INTERRUPTED, error: "Interrupted" });
    this.#isInterrupted = true;
    if (this.#sessionId !== null) void this.#send(INTERRUPT);
  }

  async #follow(command: Omit<Command, "target">): Promise<void> {
    await this.#exchange(command);
    if (this.#isInterrupted && !this.#isOver) void this.#send(INTERRUPT);
    this.#begin();
    while (!this.#isOver) {
      if (this.#wantsInput) await this.#pause();
      else await this.#poll();
    }
  }

  /** Looking again is safe after a cut; what an answer held that got lost is lost. */
  async #poll(): Promise<void> {
    try {
      await this.#exchange({ sessionId: this.#sessionId ?? "", input: "" });
    } catch (error) {
      if (!(error instanceof ConnectionLost) || this.#client.isClosed) throw error;
    }
  }

  async #send(input: string): Promise<void> {
    this.#wantsInput = false;
    this.#waitMs = WAIT_MS_MIN;
    this.#wake();
    await this.#exchange({ sessionId: this.#sessionId ?? "", input }).catch(this.#fail);
  }

  async #exchange(args: Omit<Command, "target"> & { sessionId?: string }): Promise<void> {
    const wait = this.#waitMs;
    const started = performance.now();
    this.#underWay++;
    try {
      const result = await this.#client.call("shell.exec", { ...args, ...this.#target, streams: true, wait });
      this.#take(result, performance.now() - started < wait - EARLY_MS);
    } finally {
      this.#underWay--;
    }
  }

  #take(result: Result, isEarly: boolean): void {
    const { stdout = result.output, stderr = "", truncated = false } = result;
    this.isTruncated ||= truncated;
    if (stdout !== "") this.#show("stdout", stdout);
    if (stderr !== "") this.#show("stderr", stderr);
    if (this.#isOver) return;
    if (result.status === "running") {
      this.#sessionId = result.sessionId;
      this.#wantsInput = isEarly;
      this.#waitMs = stdout + stderr === "" ? Math.min(this.#waitMs * 2, WAIT_MS_MAX) : WAIT_MS_MIN;
      if (isEarly) this.onWantsInput();
      return;
    }
    const { exitCode } = result;
    const error = result.status === "failed" && result.error !== `Command exited with code ${exitCode}` ? result.error : undefined;
    // Of two calls under way when it ends, one is told how and the other that there is no such session.
    if (exitCode === undefined && this.#underWay > 1) return;
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
