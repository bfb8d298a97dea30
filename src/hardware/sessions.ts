// Commands that run, by session: collects what they put out, lets their owner wait, feed and end them. What a command
// really is (an interpreter in a thread, a child process) is behind Spawned.

import { fail } from "../lib/sys-error.ts";
import type { Exit, SessionState } from "../ports/shells.ts";

export type Spawned = {
  done: Promise<Exit>;
  /** Standard input. */
  write(text: string): void;
  end(why: string): void;
};

export type Sink = {
  output: (stream: "stdout" | "stderr", text: string) => void;
  /** The command has nothing to do before it is fed. */
  wantsInput: () => void;
};

export type SessionMeans = {
  newId(): string;
  now(): number;
  /** Resolves after so long, or when the signal says so. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

export const SESSIONS_PER_OWNER = 8;
/** What has ended and was never asked for is kept this long, and of one owner only the last few: it holds what they put out. */
const KEEP_MS = 10 * 60 * 1000;
export const ENDED_PER_OWNER = 16;
const CUT = "\n...[truncated]";

type Session = {
  owner: number;
  spawned: Spawned;
  stdout: Collected;
  stderr: Collected;
  exit: Exit | null;
  endedAt: number;
  /** Wakes whoever waits; replaced each time. */
  changed: Turn;
  wantsInput: boolean;
};

export class Sessions {
  readonly #means: SessionMeans;
  readonly #sessions = new Map<string, Session>();

  constructor(means: SessionMeans) {
    this.#means = means;
  }

  start(owner: number, outputBytesMax: number, spawn: (sink: Sink) => Spawned): string {
    this.#forgetOld(owner);
    const running = [...this.#sessions.values()].filter((session) => session.owner === owner && session.exit === null).length;
    if (running >= SESSIONS_PER_OWNER)
      fail(
        429,
        `Too many commands running: at most ${SESSIONS_PER_OWNER} of yours at once. Wait for one, or end it by sending \\u0003 as input to its session`,
      );
    const id = `sh_${this.#means.newId()}`;
    const session: Session = {
      owner,
      spawned: undefined as never,
      stdout: new Collected(outputBytesMax),
      stderr: new Collected(outputBytesMax),
      exit: null,
      endedAt: 0,
      changed: turn(),
      wantsInput: false,
    };
    session.spawned = spawn({
      output: (stream, text) => session[stream].add(text),
      wantsInput: () => {
        session.wantsInput = true;
        session.changed.resolve();
      },
    });
    session.spawned.done.then(
      (exit) => this.#ended(session, exit),
      () => this.#ended(session, { exitCode: 1, error: "The command could not be run" }),
    );
    this.#sessions.set(id, session);
    return id;
  }

  async wait(owner: number, id: string, ms: number, signal: AbortSignal): Promise<SessionState | null> {
    const session = this.#find(owner, id);
    if (session === undefined) return null;
    if (session.exit === null && !session.wantsInput) {
      const over = new AbortController();
      // Without a reason one is made each time, with a stack that nobody reads.
      const ended = () => over.abort(null);
      signal.addEventListener("abort", ended, { once: true });
      if (signal.aborted) ended();
      await Promise.race([session.changed.promise, this.#means.sleep(ms, over.signal)]);
      signal.removeEventListener("abort", ended);
      over.abort(null);
    }
    if (session.exit !== null) this.#sessions.delete(id);
    const stdout = session.stdout.take();
    const stderr = session.stderr.take();
    return { stdout: stdout.text, stderr: stderr.text, truncated: stdout.isCut || stderr.isCut, exit: session.exit };
  }

  write(owner: number, id: string, text: string): boolean {
    const session = this.#find(owner, id);
    if (session === undefined) return false;
    if (session.exit === null) {
      session.wantsInput = false;
      session.changed = turn();
      session.spawned.write(text);
    }
    return true;
  }

  async end(owner: number, id: string, why: string): Promise<void> {
    const session = this.#find(owner, id);
    if (session === undefined || session.exit !== null) return;
    session.spawned.end(why);
    await session.spawned.done.catch(() => {});
  }

  #find(owner: number, id: string): Session | undefined {
    const session = this.#sessions.get(id);
    // Somebody else's and none at all are told alike.
    return session?.owner === owner ? session : undefined;
  }

  #ended(session: Session, exit: Exit): void {
    session.exit = exit;
    session.endedAt = this.#means.now();
    session.changed.resolve();
  }

  #forgetOld(owner: number): void {
    const before = this.#means.now() - KEEP_MS;
    for (const [id, { exit, endedAt }] of this.#sessions) if (exit !== null && endedAt < before) this.#sessions.delete(id);
    const ended = [...this.#sessions].filter(([, session]) => session.owner === owner && session.exit !== null);
    const oldest = ended.toSorted(([, a], [, b]) => a.endedAt - b.endedAt).slice(0, Math.max(0, ended.length - ENDED_PER_OWNER));
    for (const [id] of oldest) this.#sessions.delete(id);
  }
}

type Turn = { promise: Promise<void>; resolve(): void };

/** Devices run on Node 20, where promises cannot do this themselves. */
function turn(): Turn {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** One stream's text since the last look, cut at a number of bytes. */
class Collected {
  readonly #bytesMax: number;
  #parts: string[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(text: string): void {
    if (this.#isCut || text === "") return;
    const bytes = new TextEncoder().encode(text);
    const room = this.#bytesMax - this.#bytes;
    this.#isCut = bytes.length > room;
    // A character cut in two is left out.
    this.#parts.push(this.#isCut ? new TextDecoder().decode(bytes.subarray(0, room), { stream: true }) : text);
    this.#bytes += Math.min(bytes.length, room);
  }

  take(): { text: string; isCut: boolean } {
    const taken = { text: this.#parts.join("") + (this.#isCut ? CUT : ""), isCut: this.#isCut };
    this.#parts = [];
    this.#bytes = 0;
    this.#isCut = false;
    return taken;
  }
}
