// A kernel with processes on a virtual clock, for tests of schedules, watches and notifications. The clock can be set, the gateway can be
// down, and it can die at named points between the ledger of a run and what is recorded after its effect.

import { yieldToEventLoop } from "../../src/lib/yield.ts";
import { Kernel } from "../../src/kernel/kernel.ts";
import type { ProcessActors } from "../../src/ports/actors.ts";
import { LimitedLog } from "../../src/ports/limited-log.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { ModelEvent, ModelRequest, Models } from "../../src/ports/models.ts";
import {
  Agenda,
  MemoryBlobs,
  memoryCrypto,
  memoryLog,
  memoryNet,
  MemoryProcesses,
  MemoryRepositories,
  MemoryShells,
  MemorySockets,
  MemorySql,
  memoryVitals,
  Random,
  silentMeter,
} from "../support/memory-ports.ts";
import type { KernelPort, SysOutcome } from "../../src/process/kernel-port.ts";
import { lastText } from "../support/scripted-models.ts";
import { connectArgs, type Heard } from "./desk.ts";
import type { Data } from "./requests.ts";

/** Monday, 5 January 2026, 08:00 in UTC. */
export const START_MS = Date.UTC(2026, 0, 5, 8);

/** Where the gateway dies with the next run of a schedule or the next message of a watch: the points are in their order. */
export type DeathPoint =
  | "before the ledger is durable"
  | "after the ledger"
  | "before the message"
  | "after the message"
  | "before the outcome is durable";

type Awaitable<T> = T | Promise<T>;

/** No chain of promises in the kernel or in a process needs more turns of the event loop than this. */
const TURNS = 16;
/** As the clock of the Node host looks whether it was set. */
const LOOK_MS = 15_000;
/** Guards against hangs. */
const STEPS_MAX = 20_000;
const DEATH_MS = 60 * 60_000;

export class TimedWorld {
  readonly agenda = new Agenda(new Random("timed"), START_MS);
  readonly models = new WordyModels((ms) => new Promise((resolve) => this.agenda.after(ms, "model", resolve)));
  readonly sql: MemorySql;
  readonly processes: MemoryProcesses;
  readonly incidents: string[] = [];
  /** Frames that connections have received. */
  readonly heard = new Map<string, Heard[]>();
  /** Every commit fails that somebody waits for, and those that nobody waits for too. */
  isDiskFull = false;
  /** How often the host woke the kernel. */
  wakes = 0;
  /** Called before each call of a process, which waits for it; what it throws, the kernel gets. */
  onProcessCall: (pid: string, name: string, args: Data) => Awaitable<unknown> = () => {};
  alice = "";
  root = "";
  #deathPoint: DeathPoint | null = null;
  readonly #clock: SettableClock;
  readonly #sockets: MemorySockets;
  readonly #ports: ConstructorParameters<typeof Kernel>[0];
  #kernel: Kernel | null = null;
  #count = 0;
  /** Processes that compress an archive, which takes real time, in which no other may pass. */
  readonly #compressing = new Set<string>();

  private constructor() {
    this.#clock = new SettableClock(this.agenda, () => this.#wake());
    this.sql = new MemorySql((batch) => this.agenda.after(batch === "open" ? 1 : 250, "commit", () => this.#commit(), "kernel"));
    this.#sockets = new MemorySockets({
      agenda: this.agenda,
      random: new Random("wires"),
      sql: this.sql,
      events: () => this.kernel,
      watch: {
        sent() {},
        left: (socketId, text) => void this.heard.get(socketId)?.push(JSON.parse(text) as Heard),
        closing() {},
        gone() {},
      },
      latency: { delayMs: () => 0, noticeMs: () => 0, answersGoodbye: () => true },
    });
    const now = () => this.now;
    const crypto = memoryCrypto(new Random("crypto"), (value) => Promise.resolve(value));
    this.processes = new MemoryProcesses({
      models: this.models,
      kernel: () => ({
        kernelPortFor: (pid) => this.#portFor(pid),
        archiveRootOf: (pid) => this.kernel.archiveRootOf(pid),
        ownerUidOf: (pid) => this.kernel.ownerOf(pid),
      }),
      uuid: () => crypto.uuid(),
      now,
      wakeAt: (ms, woke) => this.agenda.at(Math.max(ms - this.#clock.skewMs, this.agenda.now + 1), "wake of a process", woke, "kernel"),
    });
    this.#ports = {
      sql: this.sql,
      processes: this.#mortalProcesses(),
      repositories: new MemoryRepositories(),
      shells: new MemoryShells(),
      blobs: new MemoryBlobs(),
      clock: this.#clock,
      sockets: this.#sockets,
      crypto,
      net: memoryNet(),
      log: new LimitedLog(
        memoryLog((line) => this.incidents.push(line)),
        now,
      ),
      meter: silentMeter,
      vitals: memoryVitals(),
    };
    this.sql.onFailure(() => this.kernel.onRollback());
  }

  /** Alice and root are connected. */
  static async make(): Promise<TimedWorld> {
    const world = new TimedWorld();
    world.begin();
    await world.call("sys.setup", { username: "alice", password: "alice first", rootPassword: "root first" }, world.#open());
    await world.#connectPeople();
    return world;
  }

  get kernel(): Kernel {
    if (this.#kernel === null) throw new Error("the gateway is down");
    return this.#kernel;
  }

  get isUp(): boolean {
    return this.#kernel !== null;
  }

  /** What the clock shows. */
  get now(): number {
    return this.#clock.now();
  }

  /** By default with the password of the user. */
  async enter(username: string, proof: Data = { password: `${username} first` }, as: Data = {}): Promise<string> {
    const socketId = this.#open();
    await this.call("sys.connect", connectArgs(username, proof, as), socketId);
    return socketId;
  }

  cut(socketId: string): void {
    this.#sockets.cut(socketId);
  }

  /** Fails like the call. Takes a few milliseconds. */
  async call<T = Data>(name: string, args: Data = {}, socketId = this.alice): Promise<T> {
    const id = `r${++this.#count}`;
    this.kernel.onFrame(socketId, JSON.stringify({ type: "req", id, call: name, args }));
    const answer = await this.passUntil(() => this.heard.get(socketId)!.find((frame) => frame.type === "res" && frame.id === id), name);
    if (answer.ok !== true) throw new Error(`${answer.error?.code} ${answer.error?.message}`);
    return answer.data as T;
  }

  /** A call of a process. If Alice is asked about it, she allows it. */
  async callAs<T = Data>(pid: string, syscall: string, args: Data): Promise<T> {
    const call = { runId: "run", conversationId: "default", callId: `c${++this.#count}`, tool: "CodeMode", syscall, args };
    const send = (isRepeat: boolean) => {
      let outcome: SysOutcome | undefined;
      const sending = this.kernel.kernelPortFor(pid).runSyscall({ ...call, isRepeat }, new AbortController().signal, () => {});
      void sending.then((one) => (outcome = one));
      return this.passUntil(() => outcome, syscall);
    };
    let outcome = await send(false);
    if (outcome.kind === "asked") {
      await this.call("proc.hil", { requestId: outcome.request.requestId, decision: "approve" });
      outcome = await send(true);
    }
    if (outcome.kind === "asked" || outcome.isError) throw new Error(JSON.stringify(outcome));
    return JSON.parse(outcome.output) as T;
  }

  /** Lets this much time pass. */
  async pass(ms: number): Promise<void> {
    await this.#passWhile(() => true, ms);
  }

  /** Lets time pass until the gateway dies at this point. */
  async passToDeath(point: DeathPoint): Promise<void> {
    this.#deathPoint = point;
    await this.#passWhile(() => this.isUp, DEATH_MS);
    if (this.isUp) throw new Error(`it did not die ${point}`);
  }

  /** Lets time pass until the clock shows this. */
  passTo(ms: number): Promise<void> {
    return this.pass(ms - this.now);
  }

  /** Lets time pass, a few milliseconds at a time, until there is something. */
  async passUntil<T>(find: () => Awaitable<T | undefined | null | false>, what: string): Promise<T> {
    for (let step = 0; step < STEPS_MAX; step++) {
      const found = await find();
      if (found !== undefined && found !== null && found !== false) return found;
      await this.pass(2);
    }
    throw new Error(`in vain: ${what}`);
  }

  /** Sets the clock. The host notices it a little later. */
  setClock(byMs: number): void {
    this.#clock.skewMs += byMs;
    if (this.isUp) this.agenda.after(LOOK_MS, "the clock was set", () => this.#wake(), "kernel");
  }

  /** The gateway dies: what was not durable is lost. */
  crash(): void {
    this.#kernel = null;
    this.agenda.drop("kernel");
    this.sql.crash();
    for (const { pid } of this.sql.inspect("SELECT pid FROM processes")) this.processes.forget(String(pid));
    this.processes.crash();
    this.#compressing.clear();
    this.#sockets.crash();
  }

  /** Everything becomes durable, and the gateway ends. */
  async stop(): Promise<void> {
    await this.pass(300);
    this.crash();
  }

  /** Starts the gateway on its rows, after this much time, and connects Alice and root. */
  async start(afterMs = 0): Promise<void> {
    await this.pass(afterMs);
    this.begin();
    await this.#connectPeople();
  }

  async restart(downMs = 0): Promise<void> {
    await this.stop();
    await this.start(downMs);
  }

  /** Starts the gateway, and nobody connects. */
  begin(): void {
    this.#kernel = new Kernel(this.#ports, {
      version: "0.0.0-timed",
      host: "memory",
      setupAccess: { open: true },
      model: { provider: "demo", model: "demo" },
      waits: { yield: async () => {}, pause: async () => {} },
    });
    this.sql.commit();
  }

  async #passWhile(isWanted: () => boolean, ms: number): Promise<void> {
    const until = this.agenda.now + ms;
    await this.#settle();
    while (isWanted()) {
      const item = this.agenda.take(until);
      if (item === undefined) return;
      item.run();
      await this.#settle();
    }
  }

  /** Lets everything finish that needs no time to pass. */
  async #settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await yieldToEventLoop();
    while (this.#compressing.size > 0) await yieldToEventLoop();
  }

  async #connectPeople(): Promise<void> {
    [this.alice, this.root] = [await this.enter("alice"), await this.enter("root")];
  }

  #wake(): void {
    this.wakes++;
    this.kernel.onWake();
  }

  #open(): string {
    const socketId = this.#sockets.open("10.0.0.1", { text() {}, closed() {} });
    this.heard.set(socketId, []);
    return socketId;
  }

  #commit(): void {
    const isStarting = () => this.sql.inspect("SELECT 1 FROM schedule_runs WHERE state = 'starting'").length > 0;
    if (this.#deathPoint === "before the ledger is durable" && isStarting()) return this.#die();
    if (this.#deathPoint === "after the ledger" && isStarting()) {
      // It is on disk, and nobody is told.
      this.sql.inspect("COMMIT");
      return this.#die();
    }
    this.sql.commit(this.isDiskFull ? "full" : "none");
  }

  /** Processes that the kernel reaches until it dies. */
  #mortalProcesses(): ProcessActors {
    const isMeant = (name: string, { runId }: Data) => name === "send" && /^(?:schedule|watch):/.test(String(runId));
    return {
      call: async (pid, name, args) => {
        await this.onProcessCall(pid, name, args as Data);
        const isWatched = isMeant(name, args as Data);
        if (isWatched && this.#deathPoint === "before the message") return this.#dieWhileCalling();
        if (name === "reset") this.#compressing.add(pid);
        const answer = await this.processes.call(pid, name, args).finally(() => this.#compressing.delete(pid));
        if (isWatched && this.#deathPoint === "after the message") return this.#dieWhileCalling();
        // What follows the answer is written at once, and durable a millisecond later.
        if (isWatched && this.#deathPoint === "before the outcome is durable") this.agenda.after(0.5, "death", () => this.#die(), "kernel");
        return answer;
      },
    };
  }

  #portFor(pid: string): KernelPort {
    const port = this.kernel.kernelPortFor(pid);
    const archive: KernelPort["archive"] = (path, bytes) => {
      this.#compressing.delete(pid);
      return port.archive(path, bytes);
    };
    return { ...port, archive };
  }

  #dieWhileCalling(): Promise<never> {
    this.#die();
    return new Promise(() => {});
  }

  #die(): void {
    this.#deathPoint = null;
    this.crash();
  }
}

/** Answers "done", unless the last message says that it fails, waits or asks for permission, or how long it takes. */
export class WordyModels implements Models {
  /** Whatever the message says. */
  answersAtOnce = false;
  readonly #pass: (ms: number) => Promise<void>;
  #waiting: (() => void)[] = [];

  constructor(pass: (ms: number) => Promise<void>) {
    this.#pass = pass;
  }

  /** Ends all waits. */
  release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const end of waiting) end();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const text = this.answersAtOnce ? "" : lastText(request);
    await yieldToEventLoop();
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    if (/\bwaits\b/.test(text)) await Promise.race([aborted, new Promise<void>((resolve) => this.#waiting.push(resolve))]);
    const takesMs = Number(/\btakes (\d+) ms\b/.exec(text)?.[1] ?? 0);
    if (takesMs > 0) await Promise.race([aborted, this.#pass(takesMs)]);
    if (signal.aborted) return yield { type: "error", content: [], usage: null, error: { kind: "aborted", message: "aborted" } };
    if (/\bfails\b/.test(text))
      return yield { type: "error", content: [], usage: null, error: { kind: "refused-key", message: "The key was refused" } };
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost };
    if (/\basks\b/.test(text)) yield { type: "done", content: [{ type: "toolCall", ...DELETION }], usage, stop: "tools" };
    else yield { type: "done", content: [{ type: "text", text: "done" }], usage, stop: "end" };
  }
}

const DELETION = { id: "deletion", name: "Shell", arguments: { target: "gsv", input: "rm -rf everything" } };

class SettableClock implements Clock {
  readonly #agenda: Agenda;
  readonly #woke: () => void;
  #cancel: () => void = () => {};
  skewMs = 0;

  constructor(agenda: Agenda, woke: () => void) {
    this.#agenda = agenda;
    this.#woke = woke;
  }

  now(): number {
    return Math.floor(this.#agenda.now + this.skewMs);
  }

  elapsed(): number {
    return this.#agenda.now;
  }

  /** Like a timer of a host: it counts from now, whatever the clock shows later. */
  wakeAt(ms: number): void {
    this.#cancel();
    const wake = this.#agenda.at(Math.max(ms - this.skewMs, this.#agenda.now + 1), "wake", this.#woke, "kernel");
    this.#cancel = () => void (wake.dropped = true);
  }
}
