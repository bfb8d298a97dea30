// Commands that run, by session: collects what they put out, lets their owner wait, feed and end them. What a command
// really is (an interpreter in a thread, a child process) is behind Spawned.

import { fail } from "../lib/sys-error.ts";
import type { Exit, Look, SendOutcome, Sent, SessionInfo, SessionState, ShellCommand, SignalName, TerminalSize } from "../ports/shells.ts";
import { endedBy, interrupted } from "./exit.ts";
import { Output } from "./output.ts";

export type Spawned = {
  done: Promise<Exit>;
  pid?: number | undefined;
  /** Standard input. Resolves when there is room for more. */
  write(text: string): Promise<void> | void;
  /** Ends it, to be told of as `exit`. */
  end(exit: Exit): void;
  /** To all of its processes. Where there are none, a signal that ends a command ends it. */
  signal?(signal: SignalName): void;
  /** Only with a terminal. */
  resize?(size: TerminalSize): void;
  /** Where its output can be held up. */
  pause?(): void;
  resume?(): void;
};

export type Sink = {
  output: (stream: Stream, text: string) => void;
  /** The command has nothing to do before it is fed. */
  wantsInput: () => void;
};

export type SessionHost = {
  newId(): string;
  now(): number;
  /** Resolves after so long, or when the signal says so. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/** Of one owner. What has ended holds what it put out, so only the last few are kept, and only for a while. */
export type SessionLimits = { running: number; ended: number; keepMs: number };

export const SESSIONS_PER_OWNER = 8;
export const ENDED_PER_OWNER = 16;
const GATEWAY_LIMITS: SessionLimits = { running: SESSIONS_PER_OWNER, ended: ENDED_PER_OWNER, keepMs: 10 * 60 * 1000 };

export type Started = { command: string; cwd: string; tty?: boolean; outputBytesMax: number };

type Stream = "stdout" | "stderr";
type Told = { part: number; stdout: string; stderr: string; truncated: boolean };

type Session = {
  owner: number;
  about: Started;
  startedAt: number;
  spawned: Spawned;
  stdout: Output;
  stderr: Output;
  exit: Exit | null;
  endedAt: number;
  wantsInput: boolean;
  /** Those who wait for it to change. */
  watchers: Set<() => void>;
  parts: number;
  /** The last answer, for whoever counts them and may have missed it. */
  told: Told | null;
  isEndTold: boolean;
  /** Somebody takes all of its output as it comes, so it may be held up for them: until then. */
  followedUntil: number;
  /** Aborted when it goes on. */
  heldUp: AbortController | null;
};

/** What a terminal sends for Ctrl-C. A command without one is ended by it. */
const INTERRUPT = "\u0003";
const COMMAND_CHARS_MAX = 200;
/** How long a command waits for the end of another, and how many of one owner do. */
const ROOM_MS = 10_000;
const WAITING_PER_OWNER = 32;
/** More of the same may be just behind the first output. */
const TOGETHER_MS = 4;
/** A command is held up with this part of its room full: what is on its way has to fit into the rest. */
const HOLD_UP_PART = 4;
/** Whoever has not come for more in this time follows no longer. */
const FOLLOW_MS = 15_000;

export class Sessions {
  readonly #host: SessionHost;
  readonly #limits: SessionLimits;
  readonly #sessions = new Map<string, Session>();
  /** Those who wait for a command to end, by owner. */
  readonly #waiting = new Map<number, Set<AbortController>>();

  constructor(host: SessionHost, limits: SessionLimits = GATEWAY_LIMITS) {
    this.#host = host;
    this.#limits = limits;
  }

  start(owner: number, about: Started, spawn: (sink: Sink) => Spawned): string {
    this.#forgetOld(owner);
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
      told: null,
      isEndTold: false,
      followedUntil: 0,
      heldUp: null,
    };
    session.spawned = spawn({
      output: (stream, text) => {
        session[stream].add(text);
        changed(session);
        this.#holdUp(session);
      },
      wantsInput: () => {
        session.wantsInput = true;
        changed(session);
      },
    });
    session.spawned.done.then(
      (exit) => this.#ended(session, exit),
      () => this.#ended(session, { exitCode: 1, error: "The command could not be run" }),
    );
    this.#sessions.set(id, session);
    return id;
  }

  /** Waits for one of the owner's commands to end where too many run. False where none has in a while, or where too many wait for that already. */
  async room(owner: number): Promise<boolean> {
    // One may have ended since the owner was refused.
    if (this.#running(owner).length < this.#limits.running) return true;
    const waiting = this.#waiting.get(owner) ?? new Set();
    if (waiting.size >= WAITING_PER_OWNER) return false;
    const over = new AbortController();
    this.#waiting.set(owner, waiting.add(over));
    await this.#host.sleep(ROOM_MS, over.signal);
    waiting.delete(over);
    if (waiting.size === 0) this.#waiting.delete(owner);
    return over.signal.aborted;
  }

  async wait(owner: number, id: string, look: Look, signal: AbortSignal): Promise<SessionState | null> {
    const session = this.#find(owner, id);
    if (session === undefined || (session.isEndTold && !isLost(session, look.after))) return null;
    const isQuiet = () => session.exit === null && !session.wantsInput && !isLost(session, look.after);
    if (look.until === "end") await this.#while(session, isQuiet, look.ms, signal);
    else {
      session.followedUntil = this.#host.now() + look.ms + FOLLOW_MS;
      await this.#while(session, () => isQuiet() && !hasOutput(session), look.ms, signal);
      if (hasOutput(session)) await this.#while(session, isQuiet, TOGETHER_MS, signal);
      session.followedUntil = this.#host.now() + FOLLOW_MS;
    }
    return this.#take(id, session, look.after);
  }

  async send(owner: number, id: string, sent: Sent, ms: number): Promise<SendOutcome> {
    const session = this.#find(owner, id);
    if (session === undefined || session.isEndTold) return "missing";
    if (session.exit !== null) return "ended";
    const { spawned } = session;
    if ("resize" in sent) {
      spawned.resize?.(sent.resize);
      return spawned.resize === undefined ? "unable" : "sent";
    }
    if ("signal" in sent) {
      const outcome = signalled(spawned, sent.signal);
      // Whatever it waited for, it is about something else now.
      if (outcome === "sent") session.wantsInput = false;
      return outcome;
    }
    if (sent.text === "") return "sent";
    session.wantsInput = false;
    if (sent.text.includes(INTERRUPT) && session.about.tty !== true) {
      spawned.end(interrupted("Interrupted"));
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
    session.spawned.end(interrupted(why));
    await session.spawned.done.catch(() => {});
  }

  list(owner: number): SessionInfo[] {
    return [...this.#sessions]
      .filter(([, session]) => session.owner === owner && !session.isEndTold)
      .map(([id, session]) => info(id, session));
  }

  async endAll(why: string): Promise<void> {
    await Promise.all([...this.#sessions].map(([id, { owner }]) => this.end(owner, id, why)));
  }

  #find(owner: number, id: string): Session | undefined {
    const session = this.#sessions.get(id);
    // Somebody else's and none at all are told alike.
    return session?.owner === owner ? session : undefined;
  }

  #running(owner: number): string[] {
    return [...this.#sessions].filter(([, session]) => session.owner === owner && session.exit === null).map(([id]) => id);
  }

  #mustHaveRoom(owner: number): void {
    const running = this.#running(owner);
    if (running.length < this.#limits.running) return;
    fail(
      429,
      `Too many commands running: at most ${this.#limits.running} at once. Wait for one of these, or end it by sending \\u0003 as input to its session: ${running.join(", ")}`,
    );
  }

  /** For as long as the condition holds, and no longer than so long. */
  async #while(session: Session, holds: () => boolean, ms: number, signal: AbortSignal): Promise<void> {
    if (!holds()) return;
    const over = new AbortController();
    // Without a reason one is made each time, with a stack that nobody reads.
    const end = () => over.abort(null);
    const look = () => {
      if (!holds()) end();
    };
    session.watchers.add(look);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await this.#host.sleep(ms, over.signal);
    signal.removeEventListener("abort", end);
    session.watchers.delete(look);
  }

  #take(id: string, session: Session, after: number | undefined): SessionState {
    const { exit, wantsInput } = session;
    const again = isLost(session, after) ? session.told : null;
    const isCut = again?.truncated ?? false;
    const stdout = session.stdout.take({ text: again?.stdout ?? "", isCut });
    const stderr = session.stderr.take({ text: again?.stderr ?? "", isCut });
    this.#goOn(session);
    const told = { stdout: stdout.text, stderr: stderr.text, truncated: stdout.isCut || stderr.isCut };
    if (after === undefined) {
      session.told = null;
      if (exit !== null) this.#sessions.delete(id);
      return { ...told, exit, wantsInput };
    }
    const part = ++session.parts;
    session.told = { part, ...told };
    session.isEndTold = exit !== null;
    return { ...told, exit, wantsInput, part };
  }

  /** A command that puts out faster than its follower takes waits for them, as it would for a slow terminal. */
  #holdUp(session: Session): void {
    const { spawned, about } = session;
    const bytes = Math.max(session.stdout.bytes, session.stderr.bytes);
    if (session.heldUp?.signal.aborted === false || bytes < about.outputBytesMax / HOLD_UP_PART || this.#host.now() > session.followedUntil)
      return;
    if (spawned?.pause === undefined) return;
    const hold = new AbortController();
    session.heldUp = hold;
    spawned.pause();
    // By then it may be held up anew.
    void this.#host.sleep(FOLLOW_MS, hold.signal).then(() => {
      if (session.heldUp === hold) this.#goOn(session);
    });
  }

  #goOn({ heldUp, spawned }: Session): void {
    if (heldUp === null || heldUp.signal.aborted) return;
    heldUp.abort(null);
    spawned.resume?.();
  }

  #ended(session: Session, exit: Exit): void {
    session.exit = exit;
    session.endedAt = this.#host.now();
    changed(session);
    // Whoever has waited longest goes first.
    const [first] = [...(this.#waiting.get(session.owner) ?? [])].filter(({ signal }) => !signal.aborted);
    first?.abort(null);
  }

  #forgetOld(owner: number): void {
    const before = this.#host.now() - this.#limits.keepMs;
    for (const [id, { exit, endedAt }] of this.#sessions) if (exit !== null && endedAt < before) this.#sessions.delete(id);
    const ended = [...this.#sessions].filter(([, session]) => session.owner === owner && session.exit !== null);
    // Those that were told first, then the oldest.
    const order = ended.toSorted(([, a], [, b]) => Number(b.isEndTold) - Number(a.isEndTold) || a.endedAt - b.endedAt);
    for (const [id] of order.slice(0, Math.max(0, ended.length - this.#limits.ended))) this.#sessions.delete(id);
  }
}

/** What a session of the gateway's own shell is listed as. */
export function startedAs({ input, cwd, outputBytesMax }: ShellCommand): Started {
  return { command: input, cwd, outputBytesMax };
}

function changed({ watchers }: Session): void {
  for (const look of watchers) look();
}

function hasOutput({ stdout, stderr }: Session): boolean {
  return stdout.bytes + stderr.bytes > 0;
}

function isLost({ told }: Session, after: number | undefined): boolean {
  return after !== undefined && told !== null && after < told.part;
}

function signalled(spawned: Spawned, signal: SignalName): SendOutcome {
  if (spawned.signal !== undefined) spawned.signal(signal);
  else {
    const exit = endedBy(signal);
    if (exit === null) return "unable";
    spawned.end(exit);
  }
  return "sent";
}

function info(sessionId: string, { about, startedAt, exit, spawned }: Session): SessionInfo {
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
