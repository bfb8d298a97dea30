// Running commands, by session: collects their output, and lets their owner wait for, feed and end them. SpawnedCommand hides
// what a command really is: an interpreter in a thread, or a child process.

import { fail } from "../lib/sys-error.ts";
import type {
  Exit,
  PollOptions,
  SendOutcome,
  CommandInput,
  SessionInfo,
  PollResult,
  ShellCommand,
  SignalName,
  TerminalSize,
} from "../ports/shells.ts";
import { exitForEndingSignal, makeInterruptExit } from "./exit.ts";
import { Output } from "./output.ts";

export type SpawnedCommand = {
  done: Promise<Exit>;
  pid?: number | undefined;
  /** Standard input. Resolves when there is room for more. */
  write(text: string): Promise<void> | void;
  /** Ends the command and reports its end as `exit`. */
  end(exit: Exit): void;
  /** Signals all of its processes. For a command without processes, a signal that would end one ends it. */
  signal?(signal: SignalName): void;
  /** Only with a terminal. */
  resize?(size: TerminalSize): void;
  /** Present if its output can be paused. */
  pause?(): void;
  resume?(): void;
};

export type Sink = {
  onOutput: (stream: Stream, text: string) => void;
  /** The command waits for input. */
  onInputWanted: () => void;
};

export type SessionHost = {
  newId(): string;
  now(): number;
  /** Resolves after `ms`, or when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/** Per owner. Ended commands still hold their output, so only the last few are kept, for a limited time. */
export type SessionLimits = { running: number; ended: number; keepMs: number };

export const SESSIONS_PER_OWNER = 8;
export const ENDED_PER_OWNER = 16;
const GATEWAY_LIMITS: SessionLimits = { running: SESSIONS_PER_OWNER, ended: ENDED_PER_OWNER, keepMs: 10 * 60 * 1000 };

export type CommandInfo = { command: string; cwd: string; tty?: boolean; outputBytesMax: number };

type Stream = "stdout" | "stderr";
type PolledOutput = { part: number; stdout: string; stderr: string; truncated: boolean };

type Session = {
  owner: number;
  about: CommandInfo;
  startedAt: number;
  spawned: SpawnedCommand;
  stdout: Output;
  stderr: Output;
  exit: Exit | null;
  endedAt: number;
  wantsInput: boolean;
  /** Callbacks for every change. */
  watchers: Set<() => void>;
  parts: number;
  /** The last answer, for callers that use `after` and may have missed it. */
  lastAnswer: PolledOutput | null;
  isEndReported: boolean;
  /** Until when a caller counts as following its output; only then it may be paused. */
  followedUntil: number;
  /** Aborted when it resumes. */
  hold: AbortController | null;
};

/** What a terminal sends for Ctrl-C. It ends a command without a terminal. */
const INTERRUPT = "\u0003";
const COMMAND_CHARS_MAX = 200;
/** How long a caller waits for room, and how many callers of one owner may wait. */
const ROOM_MS = 10_000;
const WAITING_PER_OWNER = 32;
/** How long to wait for more output right after the first. */
const TOGETHER_MS = 4;
/** A command is paused when its output fills one part in this many of its buffer: output in flight has to fit into the rest. */
const PAUSE_PART = 4;
/** A caller that has not polled for this long no longer follows. */
const FOLLOW_MS = 15_000;

export class Sessions {
  readonly #host: SessionHost;
  readonly #limits: SessionLimits;
  readonly #sessions = new Map<string, Session>();
  /** Callers that wait for room, by owner. */
  readonly #waiting = new Map<number, Set<AbortController>>();

  constructor(host: SessionHost, limits: SessionLimits = GATEWAY_LIMITS) {
    this.#host = host;
    this.#limits = limits;
  }

  start(owner: number, about: CommandInfo, spawn: (sink: Sink) => SpawnedCommand): string {
    this.#removeOld(owner);
    this.#mustHaveRoom(owner);
    const id = `sh_${this.#host.newId()}`;
    const session: Session = {
      owner,
      about: { ...about, command: about.command.slice(0, COMMAND_CHARS_MAX).toWellFormed() },
      startedAt: this.#host.now(),
      spawned: undefined as never,
      stdout: new Output(about.outputBytesMax),
      stderr: new Output(about.outputBytesMax),
      exit: null,
      endedAt: 0,
      wantsInput: false,
      watchers: new Set(),
      parts: 0,
      lastAnswer: null,
      isEndReported: false,
      followedUntil: 0,
      hold: null,
    };
    session.spawned = spawn({
      onOutput: (stream, text) => {
        session[stream].add(text);
        notifyWatchers(session);
        this.#pauseIfFull(session);
      },
      onInputWanted: () => {
        session.wantsInput = true;
        notifyWatchers(session);
      },
    });
    session.spawned.done.then(
      (exit) => this.#finish(session, exit),
      () => this.#finish(session, { exitCode: 1, error: "The command could not be run" }),
    );
    this.#sessions.set(id, session);
    return id;
  }

  /**
   * If the owner has too many running commands, waits for one of them to end. False if none ended within the wait, or too many
   * callers wait already.
   */
  async waitForRoom(owner: number): Promise<boolean> {
    // A command may have ended since the owner was refused.
    if (this.#listRunning(owner).length < this.#limits.running) return true;
    const waiting = this.#waiting.get(owner) ?? new Set();
    if (waiting.size >= WAITING_PER_OWNER) return false;
    const over = new AbortController();
    this.#waiting.set(owner, waiting.add(over));
    await this.#host.sleep(ROOM_MS, over.signal);
    waiting.delete(over);
    if (waiting.size === 0) this.#waiting.delete(owner);
    return over.signal.aborted;
  }

  async wait(owner: number, id: string, options: PollOptions, signal: AbortSignal): Promise<PollResult | null> {
    const session = this.#find(owner, id);
    if (session === undefined || (session.isEndReported && !wasAnswerLost(session, options.after))) return null;
    const isQuiet = () => session.exit === null && !session.wantsInput && !wasAnswerLost(session, options.after);
    if (options.until === "end") await this.#waitWhile(session, isQuiet, options.ms, signal);
    else {
      session.followedUntil = this.#host.now() + options.ms + FOLLOW_MS;
      await this.#waitWhile(session, () => isQuiet() && !hasOutput(session), options.ms, signal);
      if (hasOutput(session)) await this.#waitWhile(session, isQuiet, TOGETHER_MS, signal);
      session.followedUntil = this.#host.now() + FOLLOW_MS;
    }
    return this.#takeState(id, session, options.after);
  }

  async send(owner: number, id: string, sent: CommandInput, ms: number): Promise<SendOutcome> {
    const session = this.#find(owner, id);
    if (session === undefined || session.isEndReported) return "missing";
    if (session.exit !== null) return "ended";
    const { spawned } = session;
    if ("resize" in sent) {
      spawned.resize?.(sent.resize);
      return spawned.resize === undefined ? "unable" : "sent";
    }
    if ("signal" in sent) {
      const outcome = sendSignal(spawned, sent.signal);
      // The signal may have changed what it waits for.
      if (outcome === "sent") session.wantsInput = false;
      return outcome;
    }
    if (sent.text === "") return "sent";
    session.wantsInput = false;
    if (sent.text.includes(INTERRUPT) && session.about.tty !== true) {
      spawned.end(makeInterruptExit("Interrupted"));
      return "sent";
    }
    const room = spawned.write(sent.text);
    if (room !== undefined) {
      const over = new AbortController();
      await Promise.race([room, spawned.done.catch(() => {}), this.#host.sleep(ms, over.signal)]);
      over.abort(null);
    }
    return "sent";
  }

  async end(owner: number, id: string, why: string): Promise<void> {
    const session = this.#find(owner, id);
    if (session === undefined || session.exit !== null) return;
    session.spawned.end(makeInterruptExit(why));
    await session.spawned.done.catch(() => {});
  }

  list(owner: number): SessionInfo[] {
    return [...this.#sessions]
      .filter(([, session]) => session.owner === owner && !session.isEndReported)
      .map(([id, session]) => toSessionInfo(id, session));
  }

  async endAll(why: string): Promise<void> {
    await Promise.all([...this.#sessions].map(([id, { owner }]) => this.end(owner, id, why)));
  }

  #find(owner: number, id: string): Session | undefined {
    const session = this.#sessions.get(id);
    // Another owner's session looks like a missing one.
    return session?.owner === owner ? session : undefined;
  }

  #listRunning(owner: number): string[] {
    return [...this.#sessions].filter(([, session]) => session.owner === owner && session.exit === null).map(([id]) => id);
  }

  #mustHaveRoom(owner: number): void {
    const running = this.#listRunning(owner);
    if (running.length < this.#limits.running) return;
    fail(
      429,
      `Too many commands running: at most ${this.#limits.running} at once. Wait for one of these, or end it by sending \\u0003 as input to its session: ${running.join(", ")}`,
    );
  }

  /** Waits while the condition holds, at most `ms`. */
  async #waitWhile(session: Session, holds: () => boolean, ms: number, signal: AbortSignal): Promise<void> {
    if (!holds()) return;
    const over = new AbortController();
    // Without a reason, abort creates an error with a stack each time.
    const end = () => over.abort(null);
    const check = () => {
      if (!holds()) end();
    };
    session.watchers.add(check);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await this.#host.sleep(ms, over.signal);
    signal.removeEventListener("abort", end);
    session.watchers.delete(check);
  }

  #takeState(id: string, session: Session, after: number | undefined): PollResult {
    const { exit, wantsInput } = session;
    const lost = wasAnswerLost(session, after) ? session.lastAnswer : null;
    const isCut = lost?.truncated ?? false;
    const stdout = session.stdout.take({ text: lost?.stdout ?? "", isCut });
    const stderr = session.stderr.take({ text: lost?.stderr ?? "", isCut });
    this.#resume(session);
    const answer = { stdout: stdout.text, stderr: stderr.text, truncated: stdout.isCut || stderr.isCut };
    if (after === undefined) {
      session.lastAnswer = null;
      if (exit !== null) this.#sessions.delete(id);
      return { ...answer, exit, wantsInput };
    }
    const part = ++session.parts;
    session.lastAnswer = { part, ...answer };
    session.isEndReported = exit !== null;
    return { ...answer, exit, wantsInput, part };
  }

  /** Pauses a command whose output is faster than its follower, as a slow terminal would. */
  #pauseIfFull(session: Session): void {
    const { spawned, about } = session;
    const bytes = Math.max(session.stdout.bytes, session.stderr.bytes);
    if (session.hold?.signal.aborted === false || bytes < about.outputBytesMax / PAUSE_PART || this.#host.now() > session.followedUntil)
      return;
    if (spawned?.pause === undefined) return;
    const hold = new AbortController();
    session.hold = hold;
    spawned.pause();
    // By then it may have been paused again.
    void this.#host.sleep(FOLLOW_MS, hold.signal).then(() => {
      if (session.hold === hold) this.#resume(session);
    });
  }

  #resume({ hold, spawned }: Session): void {
    if (hold === null || hold.signal.aborted) return;
    hold.abort(null);
    spawned.resume?.();
  }

  #finish(session: Session, exit: Exit): void {
    session.exit = exit;
    session.endedAt = this.#host.now();
    notifyWatchers(session);
    // The caller that has waited longest goes first.
    const [first] = [...(this.#waiting.get(session.owner) ?? [])].filter(({ signal }) => !signal.aborted);
    first?.abort(null);
  }

  #removeOld(owner: number): void {
    const before = this.#host.now() - this.#limits.keepMs;
    for (const [id, { exit, endedAt }] of this.#sessions) if (exit !== null && endedAt < before) this.#sessions.delete(id);
    const ended = [...this.#sessions].filter(([, session]) => session.owner === owner && session.exit !== null);
    // Sessions whose end was reported come first, then the oldest.
    const order = ended.toSorted(([, a], [, b]) => Number(b.isEndReported) - Number(a.isEndReported) || a.endedAt - b.endedAt);
    for (const [id] of order.slice(0, Math.max(0, ended.length - this.#limits.ended))) this.#sessions.delete(id);
  }
}

/** How a session of the gateway's own shell is listed. */
export function toCommandInfo({ input, cwd, outputBytesMax }: ShellCommand): CommandInfo {
  return { command: input, cwd, outputBytesMax };
}

function notifyWatchers({ watchers }: Session): void {
  for (const check of watchers) check();
}

function hasOutput({ stdout, stderr }: Session): boolean {
  return stdout.bytes + stderr.bytes > 0;
}

function wasAnswerLost({ lastAnswer }: Session, after: number | undefined): boolean {
  return after !== undefined && lastAnswer !== null && after < lastAnswer.part;
}

function sendSignal(spawned: SpawnedCommand, signal: SignalName): SendOutcome {
  if (spawned.signal !== undefined) spawned.signal(signal);
  else {
    const exit = exitForEndingSignal(signal);
    if (exit === null) return "unable";
    spawned.end(exit);
  }
  return "sent";
}

function toSessionInfo(sessionId: string, { about, startedAt, exit, spawned }: Session): SessionInfo {
  return {
    sessionId,
    command: about.command,
    cwd: about.cwd,
    startedAt,
    state: exit === null ? "running" : "ended",
    ...(exit === null ? {} : { exitCode: exit.exitCode }),
    ...(about.tty === true ? { tty: true } : {}),
    ...(spawned.pid === undefined ? {} : { pid: spawned.pid }),
  };
}
