// The Shells port: commands run in threads, one at a time in each, and a thread belongs to one user. A command that exceeds its
// time or the memory of its thread is ended together with the thread. Threads start on demand and exit after an idle time.

import { Worker } from "node:worker_threads";
import { makeKilledExit, makeTimeoutExit } from "../../hardware/exit.ts";
import { Sessions, type Sink, type SpawnedCommand, toCommandInfo } from "../../hardware/sessions.ts";
import type { Crypto } from "../../ports/crypto.ts";
import { sleep } from "../../lib/sleep.ts";
import type {
  Exit,
  PollOptions,
  SendOutcome,
  CommandInput,
  SessionInfo,
  PollResult,
  ShellCommand,
  ShellLink,
  Shells,
} from "../../ports/shells.ts";
import { Lines } from "../../shell/lines.ts";
import type { FromShell, ToShell } from "./shell-messages.ts";

/** Users who already have a thread share this many; a user without one may get one beyond it. */
const THREADS_MAX = 8;
const THREADS_TOTAL_MAX = 64;
const THREADS_PER_USER = 4;
const IDLE_MS = 30_000;
/** A user's next thread starts when a command has waited this long for the existing ones. */
const CROWDED_MS = 40;
/** How long a command may still run after its timeout, or after it was told to stop, to write its last output. */
const GRACE_MS = 250;
const HEAP_MB_MAX = 64;

export class NodeShells implements Shells {
  readonly #sessions: Sessions;
  readonly #threads = new Set<Thread>();
  #queue: Job[] = [];
  #crowdedTimer: NodeJS.Timeout | undefined;

  constructor(crypto: Crypto) {
    this.#sessions = new Sessions({ newId: () => crypto.uuid(), now: () => Date.now(), sleep });
  }

  async start(command: ShellCommand, link: ShellLink): Promise<string> {
    return this.#sessions.start(command.who.uid, toCommandInfo(command), (sink) => this.#spawn(command, link, sink));
  }

  waitForRoom(uid: number): Promise<boolean> {
    return this.#sessions.waitForRoom(uid);
  }

  wait(uid: number, sessionId: string, options: PollOptions, signal: AbortSignal): Promise<PollResult | null> {
    return this.#sessions.wait(uid, sessionId, options, signal);
  }

  send(uid: number, sessionId: string, sent: CommandInput, ms: number): Promise<SendOutcome> {
    return this.#sessions.send(uid, sessionId, sent, ms);
  }

  end(uid: number, sessionId: string, why: string): Promise<void> {
    return this.#sessions.end(uid, sessionId, why);
  }

  async list(uid: number): Promise<SessionInfo[]> {
    return this.#sessions.list(uid);
  }

  async close(): Promise<void> {
    clearTimeout(this.#crowdedTimer);
    for (const job of this.#queue.splice(0)) job.finish({ exitCode: 1, error: "The gateway is shutting down" });
    await Promise.all([...this.#threads].map((thread) => thread.end("The gateway is shutting down")));
  }

  #spawn(command: ShellCommand, link: ShellLink, sink: Sink): SpawnedCommand {
    const job = new Job(command, link, sink);
    this.#queue.push(job);
    this.#dispatch();
    return {
      done: job.done,
      write: (text) => job.input.feed(text),
      end: (exit) => {
        if (job.thread !== null) return job.thread.interrupt(exit);
        this.#queue = this.#queue.filter((other) => other !== job);
        job.finish(exit);
      },
    };
  }

  /** Gives waiting commands to free threads, and starts threads while the limits allow. */
  #dispatch(): void {
    clearTimeout(this.#crowdedTimer);
    let isCrowded = false;
    for (const job of this.#queue.slice()) {
      const own = [...this.#threads].filter(({ uid }) => uid === job.uid);
      let thread = own.find(({ isFree }) => isFree);
      if (thread === undefined && own.length > 0 && job.waitedMs < CROWDED_MS) {
        isCrowded = true;
        continue;
      }
      thread ??= own.length < THREADS_PER_USER ? this.#newThread(job.uid, own.length === 0 ? THREADS_TOTAL_MAX : THREADS_MAX) : undefined;
      if (thread === undefined) continue;
      this.#queue.splice(this.#queue.indexOf(job), 1);
      thread.run(job);
    }
    if (isCrowded) this.#crowdedTimer = setTimeout(() => this.#dispatch(), CROWDED_MS);
  }

  #newThread(uid: number, threadsMax: number): Thread | undefined {
    if (this.#threads.size >= THREADS_MAX) {
      // An idle thread of another user makes room.
      const idle = [...this.#threads].find(({ isFree }) => isFree);
      if (idle === undefined && this.#threads.size >= threadsMax) return undefined;
      if (idle !== undefined) {
        this.#threads.delete(idle);
        void idle.end("");
      }
    }
    const thread = new Thread(uid, {
      onFree: () => this.#dispatch(),
      onExit: () => {
        this.#threads.delete(thread);
        this.#dispatch();
      },
    });
    this.#threads.add(thread);
    return thread;
  }
}

class Job {
  readonly uid: number;
  readonly command: ShellCommand;
  readonly link: ShellLink;
  readonly sink: Sink;
  readonly input: Lines;
  readonly done: Promise<Exit>;
  readonly finish: (exit: Exit) => void;
  thread: Thread | null = null;
  readonly #queuedAt = performance.now();

  constructor(command: ShellCommand, link: ShellLink, sink: Sink) {
    this.uid = command.who.uid;
    this.command = command;
    this.link = link;
    this.sink = sink;
    this.input = new Lines(() => sink.onInputWanted());
    const { promise, resolve } = Promise.withResolvers<Exit>();
    this.done = promise;
    this.finish = resolve;
  }

  get waitedMs(): number {
    return performance.now() - this.#queuedAt;
  }
}

class Thread {
  readonly uid: number;
  readonly #worker: Worker;
  readonly #events: { onFree(): void; onExit(): void };
  #job: Job | null = null;
  #abort = new AbortController();
  #deadline: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** The exit to report for a command that is being stopped, no matter what it reports itself. */
  #forcedExit: Exit | null = null;
  #hasExited = false;
  #isEnding = false;

  constructor(uid: number, events: { onFree(): void; onExit(): void }) {
    this.uid = uid;
    this.#events = events;
    this.#worker = new Worker(threadUrl(), {
      execArgv: [],
      env: {},
      // Keeps a script off the gateway's own output.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 },
    });
    this.#worker.unref();
    this.#worker.on("message", (message: FromShell) => this.#onMessage(message));
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ERR_WORKER_OUT_OF_MEMORY") return;
      this.#forcedExit ??= makeKilledExit(
        `Command stopped at a limit: it needs more than the ${HEAP_MB_MAX} MB of memory a command may have`,
      );
    });
    this.#worker.on("exit", () => this.#onExit());
  }

  get isFree(): boolean {
    return this.#job === null && !this.#hasExited && !this.#isEnding;
  }

  run(job: Job): void {
    clearTimeout(this.#idleTimer);
    this.#job = job;
    this.#forcedExit = null;
    this.#abort = new AbortController();
    job.thread = this;
    this.#worker.ref();
    const { timeoutMs } = job.command;
    // The thread checks the time itself; this timer is for a thread that is stuck.
    this.#deadline = setTimeout(() => this.#kill(makeTimeoutExit(timeoutMs)), timeoutMs + GRACE_MS);
    this.#post({ type: "run", command: job.command });
  }

  interrupt(exit: Exit): void {
    this.#forcedExit ??= exit;
    this.#post({ type: "abort" });
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#kill(exit), GRACE_MS);
  }

  async end(why: string): Promise<void> {
    this.#isEnding = true;
    this.#forcedExit ??= makeKilledExit(why);
    await this.#worker.terminate();
  }

  #onMessage(message: FromShell): void {
    const job = this.#job;
    if (job === null) return;
    switch (message.type) {
      case "ready":
        return;
      case "ask":
        return void job.link(message.ask, this.#abort.signal).then((reply) => {
          if (this.#job === job) this.#post({ type: "reply", id: message.id, reply });
        });
      case "output":
        return job.sink.onOutput(message.stream, message.text);
      case "want":
        return void job.input.nextLines().then((lines) => {
          if (this.#job === job) this.#post({ type: "lines", lines });
        });
      case "done":
        job.sink.onOutput("stdout", message.stdout);
        job.sink.onOutput("stderr", message.stderr);
        return this.#finish(this.#forcedExit ?? message.exit);
    }
  }

  #finish(exit: Exit): void {
    clearTimeout(this.#deadline);
    this.#abort.abort(null);
    const job = this.#job;
    this.#job = null;
    this.#worker.unref();
    this.#idleTimer = setTimeout(() => void this.end(""), IDLE_MS).unref();
    job?.finish(exit);
    if (!this.#hasExited) this.#events.onFree();
  }

  #kill(exit: Exit): void {
    this.#forcedExit ??= exit;
    void this.#worker.terminate();
  }

  #onExit(): void {
    this.#hasExited = true;
    clearTimeout(this.#idleTimer);
    if (this.#job !== null) this.#finish(this.#forcedExit ?? makeKilledExit("The shell failed while it ran this command"));
    clearTimeout(this.#idleTimer);
    this.#events.onExit();
  }

  #post(message: ToShell): void {
    this.#worker.postMessage(message, []);
  }
}

function threadUrl(): URL {
  return import.meta.url.endsWith(".ts") ? new URL("./shell-thread.ts", import.meta.url) : new URL("../shell-thread.js", import.meta.url);
}
