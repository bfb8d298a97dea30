// A process: takes what is said to it, works on one thing at a time, and writes every step down before it goes on. What it
// does next follows from what is written (next.ts); memory holds only what may be lost with it: the model's answer as it
// comes, and the wish to stop it.

import { fail } from "../lib/sys-error.ts";
import type { OutputBlock } from "../ports/models.ts";
import { type Call, Calls } from "./calls.ts";
import { Conversations, DEFAULT_CONVERSATION } from "./conversations.ts";
import { Events, type ProcessEvent } from "./events.ts";
import { History, type Said } from "./history.ts";
import type { Preparation, ProcessPorts } from "./link.ts";
import { type Action, type LastSaid, next, type RunView } from "./next.ts";
import { type Run, type RunOutcome, type RunReason, Runs, WAITING_MAX } from "./runs.ts";
import { migrate } from "./schema.ts";
import { syscallOf, toSyscall } from "./tools.ts";
import { generate, type Generated } from "./turn.ts";

/** A run that nothing is heard of for so long has ended, whatever it was doing. */
export const LEASE_MS = 15 * 60 * 1000;
const INTERRUPTED = "User interrupted tool execution";

export type SendArgs = {
  conversationId?: string | undefined;
  said: Extract<Said, { role: "user" | "system" }>;
  runId?: string | undefined;
  reason: RunReason;
};

export type SendResult = { status: "started"; runId: string; queued?: true };
export type AbortResult = { aborted: boolean; runId: string | null; continuedQueuedRunId: string | null };

export class Process {
  readonly #pid: string;
  readonly #ports: ProcessPorts;
  readonly conversations: Conversations;
  readonly history: History;
  readonly events: Events;
  readonly #runs: Runs;
  readonly #calls: Calls;
  /** What the run that is worked on has of the system. */
  #prepared: { runId: string; preparation: Preparation } | null = null;
  #stopping = new AbortController();
  #isWorking = false;
  #isClosed = false;
  #isAsked = false;

  constructor(pid: string, ports: ProcessPorts) {
    const { sql } = ports;
    this.#pid = pid;
    this.#ports = ports;
    migrate(sql);
    this.conversations = new Conversations(sql);
    this.history = new History(sql);
    this.events = new Events(sql);
    this.#runs = new Runs(sql);
    this.#calls = new Calls(sql);
    if (this.#runs.active() !== undefined) sql.transaction(() => this.#calls.beginAnew());
  }

  /** From now on it does nothing, wherever it was: the next life goes on from what is written. */
  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  /** Goes on where it stopped. */
  woke(): void {
    this.#goOn();
  }

  /** The same runId again is the same message. */
  send({ conversationId = DEFAULT_CONVERSATION, said, runId = this.#ports.uuid(), reason }: SendArgs): SendResult {
    const result = this.#change((tell): SendResult => {
      const now = this.#ports.now();
      const known = this.#runs.get(runId);
      if (known !== undefined) return { status: "started", runId, ...(known.state === "waiting" ? { queued: true } : {}) };
      this.conversations.forSaying(conversationId, now);
      if (this.#runs.waitingCount() >= WAITING_MAX)
        fail(429, `Too many messages are waiting: at most ${WAITING_MAX}. Wait, or abort the run`);
      const isIdle = this.#runs.active() === undefined && this.#runs.waitingCount() === 0;
      this.#runs.accept({ runId, conversationId, reason, message: said }, now);
      if (isIdle) {
        this.#begin(runId, reason, tell);
        return { status: "started", runId };
      }
      tell("proc.changed", { changes: ["queue"], conversationId, enqueuedRunId: runId });
      return { status: "started", runId, queued: true };
    });
    this.#goOn();
    return result;
  }

  /** Whatever the model or a tool is doing: for this process it is over now. */
  abort(runId?: string): AbortResult {
    const result = this.#change((tell): AbortResult => {
      const run = this.#runs.active();
      if (run === undefined || (runId !== undefined && run.runId !== runId)) {
        const waiting = runId === undefined ? undefined : this.#runs.get(runId);
        if (waiting?.state !== "waiting") return { aborted: false, runId: run?.runId ?? null, continuedQueuedRunId: null };
        this.#ended(waiting, { status: "aborted", reason: "user", text: null }, tell);
        return { aborted: true, runId: waiting.runId, continuedQueuedRunId: null };
      }
      this.#interruptCalls(run, tell);
      this.#end(run, { status: "aborted", reason: "user", text: null }, tell);
      return { aborted: true, runId: run.runId, continuedQueuedRunId: this.#runs.waiting()[0]?.runId ?? null };
    });
    if (result.aborted) this.#stop();
    this.#goOn();
    return result;
  }

  /** A person has answered. */
  decided(requestId: string): void {
    const call = this.#calls.byRequest(requestId);
    if (call?.state !== "asked") return;
    this.#change(() => this.#calls.decided(call.callId));
    this.#goOn();
  }

  get activeRun(): Run | undefined {
    return this.#runs.active();
  }

  get waitingCount(): number {
    return this.#runs.waitingCount();
  }

  #goOn(): void {
    this.#isAsked = true;
    if (this.#isWorking || this.#isClosed) return;
    this.#isWorking = true;
    void this.#work().finally(() => {
      this.#isWorking = false;
      if (this.#isAsked) this.#goOn();
    });
  }

  async #work(): Promise<void> {
    do {
      this.#isAsked = false;
      const action = next(this.#view());
      if (action.do === "rest" || action.do === "wait") {
        const active = this.#runs.active();
        if (active !== undefined) this.#ports.wakeBy(active.leaseUntil);
        continue;
      }
      try {
        await this.#perform(action);
      } catch (error) {
        this.#broken(action.runId, error);
      }
      this.#isAsked = true;
    } while (this.#isAsked && !this.#isClosed);
  }

  async #perform(action: Exclude<Action, { do: "rest" | "wait" }>): Promise<void> {
    const { runId } = action;
    switch (action.do) {
      case "begin":
        return this.#change((tell) => this.#begin(runId, "queue.promote", tell));
      case "send":
        return this.#send(action.callId);
      case "collect":
        return this.#change((tell) => this.#collect(runId, tell));
      case "join":
        return this.#change((tell) => this.#join(runId, action.runIds, tell));
      case "generate":
        return this.#generate(runId);
      case "compact":
      case "askForBudget":
        throw new Error(`A process does not know yet how to ${action.do}`);
      case "end": {
        const { status, reason } = action;
        return this.#change((tell) => {
          const run = this.#runs.active();
          if (run?.runId !== runId) return;
          this.#interruptCalls(run, tell);
          const error = status === "ok" ? {} : { error: reason };
          this.#end(run, { status, reason, text: status === "ok" ? this.#lastText(run) : null, ...error }, tell);
        });
      }
    }
  }

  #begin(runId: string, reason: RunReason, tell: Tell): void {
    const now = this.#ports.now();
    const run = this.#runs.get(runId);
    if (run?.state !== "waiting") return;
    this.#runs.begin(runId, now + LEASE_MS, now);
    const { conversationId } = run;
    tell("proc.run.started", { runId, conversationId, reason });
    if (run.message !== null) this.#say(conversationId, runId, run.message, tell);
  }

  /** What came meanwhile is said now, and answered together with the run. */
  #join(runId: string, runIds: readonly string[], tell: Tell): void {
    for (const joined of runIds) {
      const run = this.#runs.get(joined);
      if (run?.state !== "waiting") continue;
      this.#runs.join(joined, runId, this.#ports.now());
      tell("proc.run.started", { runId: joined, conversationId: run.conversationId, reason: run.reason });
      if (run.message !== null) this.#say(run.conversationId, joined, run.message, tell);
    }
  }

  async #send(callId: string): Promise<void> {
    const call = this.#calls.get(callId);
    if (call?.state !== "wanted") return;
    const { runId, tool, isAgain } = call;
    const wanted = toSyscall(tool, call.args);
    if ("error" in wanted) return this.#callEnded(call, { isError: true, output: `Error: ${wanted.error}` });
    const { call: syscall, args } = wanted;
    this.#change((tell) => {
      this.#calls.sent(callId);
      tell("proc.run.tool.started", { name: tool, syscall, args, callId, runId });
    });
    await this.#ports.sql.durable();
    if (this.#isClosed) return;
    const outcome = this.#ports.kernel.sys({ runId, callId, syscall, args, isAgain }, this.#stopping.signal).catch((error: unknown) => ({
      kind: "done" as const,
      isError: true,
      output: `Error: ${error instanceof Error ? error.message : String(error)}`,
    }));
    // Not waited for: others may run beside it, and whoever brings its end asks what is next.
    void outcome.then((end) => {
      if (this.#isClosed) return;
      if (end.kind === "asked") this.#change(() => this.#calls.asked(callId, end.requestId));
      else this.#callEnded(call, end);
      this.#goOn();
    });
  }

  /** What comes late, of a run that is over, changes nothing. */
  #callEnded({ callId, runId, tool, syscall }: Call, end: { isError: boolean; output: string; images?: Call["images"] }): void {
    this.#change((tell) => {
      const now = this.#ports.now();
      if (!this.#calls.done(callId, end, now)) return;
      this.#runs.prolong(runId, now + LEASE_MS);
      const how = end.isError ? { ok: false, error: end.output } : { ok: true, output: end.output };
      tell("proc.run.tool.finished", { name: tool, syscall, callId, runId, ...how });
    });
  }

  #collect(runId: string, tell: Tell): void {
    const run = this.#runs.active();
    if (run?.runId !== runId) return;
    const last = this.history.last(run.conversationId);
    if (last?.role !== "assistant") return;
    for (const { callId, tool, isError, output, images } of this.#calls.of(runId, last.id)) {
      const result: Said = { role: "toolResult", callId, tool, isError, output, ...(images.length === 0 ? {} : { images }) };
      this.#say(run.conversationId, runId, result, tell);
    }
  }

  async #generate(runId: string): Promise<void> {
    const run = this.#runs.active();
    if (run?.runId !== runId) return;
    const { signal } = this.#stopping;
    const preparation = await this.#prepare(run);
    const generated = await generate({ ports: this.#ports, history: this.history, pid: this.#pid, run, preparation, signal });
    if (this.#isClosed) return;
    this.#change((tell) => this.#generated(runId, generated, preparation, tell));
  }

  #generated(runId: string, generated: Generated, { choice }: Preparation, tell: Tell): void {
    const run = this.#runs.active();
    // It was aborted meanwhile: nobody wants it any more.
    if (run?.runId !== runId) return;
    const now = this.#ports.now();
    const { conversationId } = run;
    this.#runs.prolong(runId, now + LEASE_MS);
    if (generated.error !== null) {
      this.#say(conversationId, runId, { role: "system", text: `Generation failed: ${generated.error}` }, tell);
      return this.#end(run, { status: "error", reason: "generation.error", text: null, error: generated.error }, tell);
    }
    if (generated.blocks.length === 0) {
      this.#say(conversationId, runId, { role: "system", text: "Generation failed." }, tell);
      return this.#end(run, { status: "error", reason: "generation.empty", text: null, error: "The model answered nothing" }, tell);
    }
    const message = this.#say(conversationId, runId, { role: "assistant", blocks: generated.blocks }, tell);
    const { usage } = generated;
    this.#ports.sql.run(
      "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      message.id,
      runId,
      choice.provider,
      choice.model,
      usage.input,
      usage.output,
      usage.cacheRead,
      usage.cacheWrite,
      usage.cost.total,
      now,
    );
    const text = textOf(generated.blocks);
    const thinking = generated.blocks.filter(({ type }) => type === "thinking");
    if (text.trim() !== "" || thinking.length > 0) tell("proc.run.output", { text, thinking, runId, conversationId });
    const wanted = generated.blocks.filter((block) => block.type === "toolCall");
    for (const [position, { id, name, arguments: args }] of wanted.entries()) {
      this.#calls.want({ callId: id, runId, messageId: message.id, tool: name, syscall: syscallOf(name), args }, position, now);
    }
  }

  async #prepare(run: Run): Promise<Preparation> {
    if (this.#prepared?.runId !== run.runId)
      this.#prepared = { runId: run.runId, preparation: await this.#ports.kernel.prepare(run.conversationId) };
    return this.#prepared.preparation;
  }

  #interruptCalls(run: Run, tell: Tell): void {
    const open = this.#calls.open(run.runId);
    if (open.length === 0) return;
    const now = this.#ports.now();
    for (const { callId } of open) this.#calls.done(callId, { isError: true, output: `Error: ${INTERRUPTED}` }, now);
    // So that every call has its result, and the next model that reads this is not confused.
    this.#collect(run.runId, tell);
  }

  #end(run: Run, outcome: RunOutcome, tell: Tell): void {
    this.#prepared = null;
    this.#calls.forget(run.runId);
    for (const joined of this.#runs.joinedTo(run.runId)) this.#ended(joined, outcome, tell);
    this.#ended(run, outcome, tell);
  }

  #ended({ runId, conversationId }: Run, outcome: RunOutcome, tell: Tell): void {
    if (!this.#runs.end(runId, outcome, this.#ports.now())) return;
    const aborted = outcome.status === "aborted" ? { aborted: true } : {};
    tell("proc.run.finished", { runId, conversationId, ...outcome, ...aborted });
  }

  #say(conversationId: string, runId: string, said: Said, tell: Tell) {
    const message = this.history.append(conversationId, runId, said, this.#ports.now());
    const { role } = said;
    tell("proc.changed", { changes: ["messages"], conversationId, messageId: message.id, role, runId });
    return message;
  }

  #lastText({ conversationId }: Run): string | null {
    const last = this.history.last(conversationId);
    return last?.role === "assistant" ? textOf(last.blocks) : null;
  }

  #stop(): void {
    this.#stopping.abort(null);
    this.#stopping = new AbortController();
  }

  /** Our own mistake: the run ends with it, visibly, and the next one has its turn. */
  #broken(runId: string, error: unknown): void {
    if (this.#isClosed) return;
    this.#ports.log("a run broke", {
      pid: this.#pid,
      runId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    this.#change((tell) => {
      const run = this.#runs.active();
      if (run?.runId !== runId) return;
      this.#interruptCalls(run, tell);
      this.#end(run, { status: "error", reason: "internal", text: null, error: "Something went wrong in the gateway itself" }, tell);
    });
  }

  #view() {
    const run = this.#runs.active();
    return { now: this.#ports.now(), run: run === undefined ? null : this.#runView(run), waiting: this.#runs.waiting() };
  }

  #runView({ runId, conversationId, leaseUntil }: Run): RunView {
    const last = this.history.last(conversationId);
    const calls = last?.role === "assistant" ? this.#calls.of(runId, last.id) : [];
    return {
      runId,
      conversationId,
      leaseUntil,
      said: lastSaid(last, calls.length > 0),
      calls: calls.map(({ callId, state, args }) => ({ callId, state, isOnDevice: isOnDevice(args) })),
      behind: this.#runs.waiting().flatMap((one) => (one.conversationId === conversationId ? one.runId : [])),
      budget: "within",
      overflow: "none",
    };
  }

  /** One transaction; what is told of it leaves when it is durable, in order. */
  #change<T>(body: (tell: Tell) => T): T {
    const { sql, kernel } = this.#ports;
    const told: ProcessEvent[] = [];
    const value = sql.transaction(() =>
      body((signal, payload) => {
        const now = this.#ports.now();
        const facts = { pid: this.#pid, queuedCount: this.#runs.waitingCount(), timestamp: now };
        told.push(this.events.add(signal, { ...facts, ...payload }, now));
      }),
    );
    if (told.length > 0) void sql.durable().then(() => kernel.emit(told));
    return value;
  }
}

type Tell = (signal: string, payload: Record<string, unknown>) => void;

function lastSaid(last: Said | undefined, hasCalls: boolean): LastSaid {
  if (last === undefined) return "nothing";
  switch (last.role) {
    case "assistant":
      return hasCalls ? "wish" : "answer";
    case "toolResult":
      return "results";
    default:
      return last.role;
  }
}

function textOf(blocks: readonly OutputBlock[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function isOnDevice(args: Call["args"]): boolean {
  const { target, sessionId } = args ?? {};
  return (typeof target === "string" && target !== "gsv") || sessionId !== undefined;
}
