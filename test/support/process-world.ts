// A world for one process: a scripted model, a scripted kernel and real rows, and as many lives as a test wants.

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

/** What a person is asked. */
export function question(requestId: string, runId: string): HilRequest {
  const asked = { runId, conversationId: "default", callId: "c", toolName: "Shell", syscall: "shell.exec", args: {} };
  return { requestId, ...asked, createdAt: 0, expiresAt: 0, target: "gsv", cwd: "/", why: "because" };
}

export class World {
  readonly sql: NodeSql | MemorySql;
  readonly events: ProcessEvent[] = [];
  readonly requests: ModelRequest[] = [];
  readonly effects: SysCall[] = [];
  now = 1_000;
  wakeAt: number | null = null;
  ids = 0;
  /** Of a request for a summary. */
  summary: Answer | null = null;
  modelHolds: Deferred | null = null;
  /** Comes before the answer. */
  pieces: ModelEvent[] = [];
  preparing: Promise<void> = Promise.resolve();
  preparations = 0;
  readonly streamed: Record<string, unknown>[] = [];
  readonly archives = new Map<string, Uint8Array>();
  readonly checkpoints: Checkpoint[] = [];
  readonly media = new Map<string, Uint8Array>();
  readonly outputs = new Map<string, string>();
  readonly questions: { runId: string; over: readonly Overspent[] }[] = [];
  contextWindow: number | null = 10_000;
  provider = "test";
  fallback: ModelChoice | null = null;
  budget: Budget = { run: {}, process: {} };
  owner: OwnerAccount = { limits: {}, account: { total: NOTHING_SPENT, since: NOTHING_SPENT } };
  /** Answers a call, or null to leave it open. */
  /** `began` is told of it by itself where it does not say so. */
  sys: (call: SysCall, began: () => void, signal: AbortSignal) => Promise<SysOutcome> = async ({ args }) => ({
    kind: "done",
    isError: false,
    output: `content of ${String(args.path)}`,
  });
  /** Answers what no prompt of `on` is part of; without it, the model repeats what it was told last. */
  answer: ((request: ModelRequest) => Answer) | null = null;
  readonly #answers = new Map<string, readonly Answer[]>();
  /** The step at which the gateway dies: each is a moment just before or just after something outside was done. */
  crashAt = Number.POSITIVE_INFINITY;
  steps = 0;
  life = 0;
  hasDied = false;
  process: Process = undefined as never;

  constructor(sql: NodeSql | MemorySql = new NodeSql(":memory:", () => {})) {
    this.sql = sql;
    this.begin();
  }

  /** A new life over the same rows; whatever the last one was doing comes to nothing. */
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
      models: { stream: (request, signal) => this.#stream(request, signal, step) },
      kernel: {
        prepare: async () => {
          await step();
          this.preparations++;
          await this.preparing;
          const choice = { ...PREPARED.choice, provider: this.provider };
          return { ...PREPARED, choice, fallback: this.fallback, contextWindow: this.contextWindow, budget: this.budget };
        },
        heardUpTo: async () => this.events.at(-1)?.seq ?? 0,
        ofOwner: async () => this.owner,
        askForBudget: async ({ runId, over }) => {
          await step();
          this.questions.push({ runId, over });
          await step();
          return question(`budget of ${runId}`, runId);
        },
        keepOutput: async (callId, words) => {
          this.outputs.set(callId, words);
          await step();
          return `/var/outputs/${callId}`;
        },
        archive: async (path, bytes) => {
          await step();
          // A disk takes its time, and who does not wait for it loses what is not there yet.
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
        sys: async (call, signal, began) => {
          await step();
          this.effects.push(call);
          const outcome = await this.sys(call, began, signal);
          if (outcome.kind === "done" && isAlive()) began();
          await step();
          return outcome;
        },
        emit: (events) => {
          if (isAlive()) this.events.push(...events);
        },
        stream: (payload) => {
          if (isAlive()) this.streamed.push(payload);
        },
      },
    };
    this.process = new Process("p", ports);
  }

  /** The gateway is gone, and everything it was doing with it. What it had written stays, or where rows can be lost, what was durable. */
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

  /** What the model answers to a prompt: the first to the prompt itself, each further one to the results of the answer before it. */
  on(prompt: string, ...answers: Answer[]): void {
    this.#answers.set(prompt, answers);
  }

  /** Depends on the request alone, so a request that is sent again is answered the same again. */
  #answerTo(request: ModelRequest): Answer | undefined {
    if (this.summary !== null && request.system.startsWith("Summarize")) return this.summary;
    const { messages } = request;
    const asked = messages.findLastIndex(({ role }) => role === "user");
    const answered = messages.slice(asked + 1).filter(({ role }) => role === "assistant").length;
    // What was said by a person and by the runtime may be blocks of one message.
    for (const block of messages[asked]?.content.toReversed() ?? []) {
      const answers = block.type === "text" ? this.#answers.get(block.text) : undefined;
      if (answers?.[answered] !== undefined) return answers[answered];
    }
    return this.answer?.(request);
  }

  say(words: string, more: { runId?: string; conversationId?: string } = {}) {
    return this.process.send({ said: { role: "user", text: words }, reason: "proc.send", ...more });
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
    return expect.poll(() => this.process.activeRun === undefined && this.process.waitingCount === 0, { interval: 1 }).toBe(true);
  }
}
