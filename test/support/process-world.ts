// A world for one process: a scripted model, a scripted kernel and real rows. A test may crash and restart it as often as it wants.

import { expect } from "vitest";
import { NodeSql } from "../../src/hosts/node/sql.ts";
import { fail } from "../../src/lib/sys-error.ts";
import type { Deferred } from "../../src/lib/deferred.ts";
import type { ModelChoice, ModelEvent, ModelRequest, OutputBlock } from "../../src/ports/models.ts";
import type { Budget } from "../../src/process/loop/budget.ts";
import type { Checkpoint, OwnerAccount, ProcessPorts, SysCall, SysOutcome } from "../../src/process/kernel-port.ts";
import type { HilRequest, Overspent } from "../../src/protocol/proc-records.ts";
import type { ProcessEvent } from "../../src/protocol/signals.ts";
import { MemorySql } from "./memory/sql.ts";
import { ENGINE_SANDBOX } from "./sandbox.ts";
import { NOTHING_SPENT } from "../../src/ports/usage.ts";
import { Process } from "../../src/process/process.ts";

export type Answer = OutputBlock[] | { error: string };

export const text = (words: string): OutputBlock => ({ type: "text", text: words });
let calls = 0;
export const tool = (name: string, args: Record<string, unknown>): OutputBlock => ({
  type: "toolCall",
  id: `call-${++calls}`,
  name,
  arguments: args,
});
export const read = (path: string, target = "gsv") => tool("Read", { target, path });
export const USAGE = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const PREPARED = {
  choice: { provider: "test", model: "m", apiKey: "", baseUrl: null, reasoning: "off", maxOutputTokens: 100 },
  system: "be good",
  tools: [],
} as const;

/** A crash loses the rows that are not durable yet. */
export function makeSqlThatLosesWrites(): MemorySql {
  const sql: MemorySql = new MemorySql((batch) => setImmediate(() => batch === "open" && sql.commit()));
  return sql;
}

/** A question as the kernel stores it. */
export function question(requestId: string, runId: string): HilRequest {
  const fields = { runId, conversationId: "default", callId: "c", toolName: "Shell", syscall: "shell.exec", args: {} };
  const words = { why: "because", title: "Run a command", explanation: "This needs your OK." };
  return { requestId, ...fields, createdAt: 0, expiresAt: 0, target: "gsv", cwd: "/", ...words };
}

export class World {
  readonly sql: NodeSql | MemorySql;
  readonly events: ProcessEvent[] = [];
  readonly requests: ModelRequest[] = [];
  readonly effects: SysCall[] = [];
  now = 1_000;
  wakeAt: number | null = null;
  ids = 0;
  /** The answer to a request for a summary. */
  summary: Answer | null = null;
  modelHolds: Deferred | null = null;
  /** Streamed before the answer. */
  pieces: ModelEvent[] = [];
  preparing: Promise<void> = Promise.resolve();
  preparations = 0;
  readonly streamed: Record<string, unknown>[] = [];
  readonly archives = new Map<string, Uint8Array>();
  readonly checkpoints: Checkpoint[] = [];
  readonly media = new Map<string, Uint8Array>();
  readonly outputs = new Map<string, string>();
  readonly questions: { runId: string; over: readonly Overspent[] }[] = [];
  /** The calls whose questions were withdrawn. */
  readonly withdrawn: string[] = [];
  /** The calls whose questions were kept when all others of scripts were withdrawn. */
  readonly keptQuestions: (readonly string[])[] = [];
  engine = ENGINE_SANDBOX.engine;
  contextWindow: number | null = 10_000;
  provider = "test";
  fallback: ModelChoice | null = null;
  budget: Budget = { run: {}, process: {} };
  owner: OwnerAccount = { limits: {}, account: { total: NOTHING_SPENT, since: NOTHING_SPENT } };
  /** Answers a call. Where it does not call `onStart` itself, `onStart` is called when it is done, unless it was denied. */
  sys: (call: SysCall, onStart: () => void, signal: AbortSignal) => Promise<SysOutcome> = async ({ args }) => ({
    kind: "done",
    isError: false,
    output: `content of ${String(args.path)}`,
  });
  /** Answers requests that match no prompt of `on`; without it, the model repeats the last message. */
  answer: ((request: ModelRequest) => Answer) | null = null;
  readonly #answers = new Map<string, readonly Answer[]>();
  /** The step at which the gateway crashes: each step is just before or just after an effect outside the process. */
  crashAt = Number.POSITIVE_INFINITY;
  steps = 0;
  life = 0;
  hasDied = false;
  process: Process = undefined as never;

  constructor(sql: NodeSql | MemorySql = new NodeSql(":memory:", () => {})) {
    this.sql = sql;
    this.begin();
  }

  /** Restarts the process over the same rows; everything the previous one was doing is lost. */
  begin(): void {
    this.process?.close();
    const life = ++this.life;
    this.hasDied = false;
    const isAlive = () => this.life === life;
    const never = new Promise<never>(() => {});
    const step = async () => {
      if (isAlive() && ++this.steps === this.crashAt) this.die();
      if (!isAlive()) await never;
    };
    const ports: ProcessPorts = {
      sql: this.sql,
      now: () => this.now,
      archiveRoot: () => "/var/sessions/u/p",
      uuid: () => `run-${++this.ids}`,
      wakeAt: (ms) => (this.wakeAt = ms),
      log: (message, fields) => {
        throw new Error(`${message}: ${JSON.stringify(fields)}`);
      },
      sandbox: { ...ENGINE_SANDBOX, engine: this.engine },
      models: { stream: (request, signal) => this.#stream(request, signal, step) },
      kernel: {
        prepare: async () => {
          await step();
          this.preparations++;
          await this.preparing;
          const choice = { ...PREPARED.choice, provider: this.provider };
          return { ...PREPARED, choice, fallback: this.fallback, contextWindow: this.contextWindow, budget: this.budget };
        },
        lastReceivedSeq: async () => this.events.at(-1)?.seq ?? 0,
        readOwnerAccount: async () => this.owner,
        askForBudget: async ({ runId, over }) => {
          await step();
          this.questions.push({ runId, over });
          await step();
          return question(`budget of ${runId}`, runId);
        },
        storeOutput: async (callId, words) => {
          this.outputs.set(callId, words);
          await step();
          return `/var/outputs/${callId}`;
        },
        archive: async (path, bytes) => {
          await step();
          // A disk takes its time: a caller that does not await the write loses it.
          await new Promise((resolve) => setImmediate(resolve));
          await step();
          this.archives.set(path, bytes);
          await step();
        },
        checkpoint: async (checkpoint) => {
          await step();
          this.checkpoints.push(checkpoint);
          await step();
        },
        readMedia: async (key) => this.media.get(key) ?? null,
        readArchive: async (path) => {
          await step();
          return this.archives.get(path) ?? fail(404, "no such file");
        },
        runSyscall: async (call, signal, onStart) => {
          await step();
          this.effects.push(call);
          const outcome = await this.sys(call, onStart, signal);
          if (outcome.kind === "done" && outcome.outcome !== "denied" && isAlive()) onStart();
          await step();
          return outcome;
        },
        runScriptCall: async ({ call }) => {
          await step();
          return { isError: false, json: JSON.stringify({ call }) };
        },
        listScriptFunctions: async () => [],
        withdrawQuestions: async (_, about) => {
          await step();
          if ("calls" in about) this.withdrawn.push(...about.calls);
          else this.keptQuestions.push(about.scriptsExcept);
        },
        emit: (events) => {
          if (isAlive()) this.events.push(...events);
        },
        stream: (payload) => {
          if (isAlive()) this.streamed.push(payload);
        },
      },
    };
    this.process = new Process("p", ports, ports.kernel);
  }

  /** Crashes the gateway. Written rows stay; with MemorySql, which can lose rows, only the durable ones. */
  die(): void {
    this.process.close();
    this.life++;
    this.hasDied = true;
    if (this.sql instanceof MemorySql) this.sql.crash();
    else this.sql.commit();
  }

  async *#stream(request: ModelRequest, signal: AbortSignal, step: () => Promise<void>): AsyncGenerator<ModelEvent> {
    await step();
    this.requests.push(request);
    const answer = this.#answerTo(request) ?? [text(`you said ${JSON.stringify(request.messages.at(-1)?.content)}`)];
    yield* this.pieces.splice(0);
    if (this.modelHolds !== null) {
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await Promise.race([this.modelHolds.promise, stopped]);
    }
    await step();
    if (signal.aborted) yield { type: "error", content: [], usage: null, error: { kind: "aborted", message: "aborted" } };
    else if ("error" in answer) yield { type: "error", content: [], usage: null, error: { kind: "other", message: answer.error } };
    else yield { type: "done", content: answer, usage: USAGE, stop: "end" };
  }

  /** Scripts one run: the first answer is to the prompt, each further one to the tool results of the answer before it. */
  on(prompt: string, ...answers: Answer[]): void {
    this.#answers.set(prompt, answers);
  }

  /** Depends on the request alone, so a repeated request gets the same answer. */
  #answerTo(request: ModelRequest): Answer | undefined {
    if (this.summary !== null && request.system.startsWith("Summarize")) return this.summary;
    const { messages } = request;
    const lastPrompt = messages.findLastIndex(({ role }) => role === "user");
    const answerCount = messages.slice(lastPrompt + 1).filter(({ role }) => role === "assistant").length;
    // A person's text and the runtime's text may be blocks of one message.
    for (const block of messages[lastPrompt]?.content.toReversed() ?? []) {
      const answers = block.type === "text" ? this.#answers.get(block.text) : undefined;
      if (answers?.[answerCount] !== undefined) return answers[answerCount];
    }
    return this.answer?.(request);
  }

  say(words: string, more: { runId?: string; conversationId?: string } = {}) {
    return this.process.send({ message: { role: "user", text: words }, reason: "proc.send", ...more });
  }

  ends(): [string, string, string | null][] {
    return this.events
      .filter((event) => event.signal === "proc.run.finished")
      .map(({ payload: { runId, status, text } }) => [runId, status, text]);
  }

  history(conversationId = "default"): string[] {
    return this.process.history.page(conversationId, 0, 1_000).messages.map((message) => {
      if (message.role === "toolResult") return `${message.isError ? "failed" : "result"}: ${message.output}`;
      if (message.role === "assistant")
        return `assistant: ${message.blocks.map((block) => ("text" in block ? block.text : block.type)).join("|")}`;
      return `${message.role}: ${message.text}`;
    });
  }

  idle(): Promise<void> {
    return expect.poll(() => this.process.activeRun === undefined && this.process.queuedRunCount === 0, { interval: 1 }).toBe(true);
  }
}
