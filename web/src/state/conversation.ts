// One conversation as it is shown: the window over its history, the answer that is coming, what waits, what is asked, how
// full it is. All of it is read from the gateway and read again when the process tells of a change; what it tells decides
// only what to read. Made by whoever shows it, and closed by them.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Followed } from "../../../src/client/client.ts";
import { agentOf } from "./agents.ts";
import { call, type Result, sentence } from "./call.ts";
import { type FeedListener, listen } from "./feed.ts";
import { Latest } from "./latest.ts";
import type { Coming } from "./live-answer.ts";
import { Outbox } from "./outbox.ts";
import { HistoryWindow } from "./window.ts";

export type Question = Result<"proc.approval.list">["pending"][number];
export type Queued = Result<"proc.queue.list">["messages"][number];
export type Segment = Result<"proc.conversation.segments">["segments"][number];
export type ContextState = NonNullable<Result<"proc.history">["context"]>;
/** An answer that has just become a message is among the newest. */
const ENDING_LOOKS = 100;
type About = Result<"proc.conversation.get">["conversation"];
/** A call that is carried out, as its process tells; the history has its result only when all calls beside it have ended. */
export type RunningCall = {
  startedAt: number;
  endedAt: number | null;
  isError: boolean;
  outcome: CallOutcome | null;
  output: string | null;
};
export type CallOutcome = "denied" | "stopped";
type StillRunning = NonNullable<Result<"proc.abort">["stillRunning"]>[number];

/** `messageId` of the message it became, where it became one. */
type Ending = { answer: Coming; messageId: number | null };

export class Conversation {
  readonly pid: string;
  readonly id: string;
  readonly window: HistoryWindow;
  readonly outbox: Outbox;
  readonly queue: Latest<Queued[]>;
  readonly questions: Latest<Question[]>;
  readonly segments: Latest<Segment[]>;
  readonly about: Latest<About>;
  readonly context = signal<ContextState | null>(null);
  readonly problem = signal<string | null>(null);
  readonly calls = signal<ReadonlyMap<string, RunningCall>>(new Map());
  readonly retrying = signal<string | null>(null);
  /** Words of the newest finished answer, for those who hear the page rather than see it. */
  readonly finished = signal("");
  readonly live: ReadonlySignal<Coming | null>;
  /** Answers that are messages already and not read yet. */
  readonly #ending = signal<readonly Ending[]>([]);
  readonly #stops: (() => void)[] = [];
  #isClosed = false;

  constructor(pid: string, id: string) {
    this.pid = pid;
    this.id = id;
    const of = { pid, conversationId: id };
    this.window = new HistoryWindow(async (offset, limit) => {
      const page = await call("proc.history", { ...of, offset, limit });
      this.context.value = page.context;
      return page;
    });
    this.outbox = new Outbox(pid, id);
    this.queue = new Latest(async () => (await call("proc.queue.list", of)).messages, sentence);
    this.questions = new Latest(
      async () => (await call("proc.approval.list", { pid })).pending.filter(({ conversationId }) => conversationId === id),
      sentence,
    );
    this.segments = new Latest(async () => (await call("proc.conversation.segments", of)).segments, sentence);
    this.about = new Latest<About>(async () => (await call("proc.conversation.get", of)).conversation, sentence);
    const feed = listen(pid, this.#listener());
    this.live = computed(() => {
      const answer = feed.live.value;
      return answer?.conversationId === id ? answer : null;
    });
    this.#stops.push(
      () => feed.stop(),
      effect(() => this.#dropSeen()),
    );
  }

  /** Answers that were coming, the newest last: the ones that ended, and the one that grows with every frame. */
  readonly coming = computed<readonly Coming[]>(() => {
    const { value } = this.live;
    const ending = this.#ending.value;
    const read = ending.length === 0 ? [] : (this.window.view?.messages.slice(-ENDING_LOOKS).map(({ id }) => id) ?? []);
    const unread = ending.filter(({ messageId }) => messageId === null || !read.includes(messageId)).map(({ answer }) => answer);
    return value === null ? unread : [...unread, value];
  });

  /** The run that is worked on here. */
  readonly run = computed<{ runId: string; state: string } | null>(() => {
    const agent = agentOf(this.pid);
    const liveRunId = this.#liveRunId.value;
    if (agent?.activeRunId != null && agent.activeConversationId === this.id) return { runId: agent.activeRunId, state: agent.state };
    return liveRunId === null ? null : { runId: liveRunId, state: "running" };
  });

  /** Apart from the answer, so that what shows the run is not made anew for every piece. */
  readonly #liveRunId = computed(() => this.live.value?.runId ?? null);

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
  }

  async send(runId: string, text: string, media: Parameters<Outbox["send"]>[2]): Promise<boolean> {
    const isSent = await this.outbox.send(runId, text, media);
    if (isSent) this.#look();
    return isSent;
  }

  /** What waits stays until it is resumed. `stillRunning` may go on although it was stopped. */
  async abort(): Promise<{ aborted: boolean; stillRunning: readonly StillRunning[] }> {
    const run = this.run.peek();
    const done = await call("proc.abort", { pid: this.pid, ...(run && { runId: run.runId }), pauseQueue: true });
    return { aborted: done.aborted, stillRunning: done.stillRunning ?? [] };
  }

  async resumeQueue(): Promise<void> {
    await call("proc.queue.resume", { pid: this.pid, conversationId: this.id });
    await this.queue.refetch();
  }

  #listener(): FeedListener {
    return {
      onEvent: (event, ended) => this.#heard(event, this.#mine(ended)),
      onAnew: (isGap, ended) => {
        this.#end(this.#mine(ended), isGap || this.window.peek() === null ? this.window.readAnew() : this.window.catchUp());
        this.#lookAround();
      },
      onError: (error) => (this.problem.value = sentence(error)),
    };
  }

  #mine(answer: Coming | null): Coming | null {
    return answer?.conversationId === this.id ? answer : null;
  }

  #heard({ signal, payload }: Followed, ended: Coming | null): void {
    const changes = Array.isArray(payload.changes) ? (payload.changes as string[]) : [];
    const isAll = payload.conversationId === undefined;
    if (!isAll && payload.conversationId !== this.id) return;
    switch (signal) {
      case "proc.changed":
        return this.#changed(changes, payload, ended);
      case "proc.run.retrying":
        this.retrying.value = typeof payload.why === "string" ? payload.why : "The model did not answer";
        return;
      case "proc.run.tool.started":
        return this.#calling(String(payload.callId), {
          startedAt: Number(payload.timestamp),
          endedAt: null,
          isError: false,
          outcome: null,
          output: null,
        });
      case "proc.run.tool.finished": {
        const known = this.calls.peek().get(String(payload.callId));
        const startedAt = known?.startedAt ?? Number(payload.timestamp);
        const isError = payload.ok === false;
        const said = isError ? payload.error : payload.output;
        const output = typeof said === "string" ? said : "";
        const outcome = outcomeOf(payload.outcome);
        return this.#calling(String(payload.callId), { startedAt, endedAt: Number(payload.timestamp), isError, outcome, output });
      }
      case "proc.run.hil.requested":
        void this.questions.refetch();
        return;
      case "proc.run.output":
        this.finished.value = typeof payload.text === "string" ? payload.text : "";
        return;
      case "proc.run.started":
      case "proc.run.finished":
        if (signal === "proc.run.finished") this.calls.value = new Map();
        this.retrying.value = null;
        this.#end(ended, this.window.catchUp());
        void this.queue.refetch();
        if ((this.questions.value.peek() ?? []).length > 0) void this.questions.refetch();
    }
  }

  #changed(changes: string[], payload: Record<string, unknown>, ended: Coming | null): void {
    if (changes.includes("context")) this.context.value = payload.context as ContextState;
    if (changes.includes("queue")) void this.queue.refetch();
    if (changes.includes("conversations")) void this.about.refetch();
    if (changes.includes("lifecycle") && changes.includes("messages")) {
      void this.segments.refetch();
      void this.queue.refetch();
      this.#end(ended, this.window.readAnew());
    } else if (changes.includes("messages")) {
      this.retrying.value = null;
      this.#end(ended, this.window.catchUp(), typeof payload.messageId === "number" ? payload.messageId : null);
    }
  }

  #calling(callId: string, state: RunningCall): void {
    this.calls.value = new Map(this.calls.peek()).set(callId, state);
    // A question that was answered elsewhere is over.
    if ((this.questions.value.peek() ?? []).some((question) => question.callId === callId)) void this.questions.refetch();
  }

  /** The answer stays until the message it became was read. */
  #end(ended: Coming | null, read: Promise<void>, messageId: number | null = null): void {
    if (ended !== null) this.#ending.value = [...this.#ending.peek(), { answer: ended, messageId }];
    const over = this.#ending.peek();
    void read.then(
      () => {
        this.problem.value = null;
        this.#ending.value = this.#ending.peek().filter((one) => !over.includes(one));
      },
      (error: unknown) => {
        if (!this.#isClosed) this.problem.value = sentence(error);
      },
    );
  }

  #look(): void {
    this.#end(null, this.window.catchUp());
    void this.queue.refetch();
  }

  #lookAround(): void {
    for (const latest of [this.queue, this.questions, this.segments, this.about]) void latest.refetch();
  }

  /** What is seen among the messages or in the queue need not be shown as just sent. */
  #dropSeen(): void {
    if (this.outbox.waiting.length === 0) return;
    const seen = new Set([
      ...(this.window.view?.messages ?? []).map(({ runId }) => runId),
      ...(this.queue.value.value ?? []).map(({ runId }) => runId),
    ]);
    this.outbox.drop(({ runId }) => seen.has(runId));
  }
}

export function outcomeOf(outcome: unknown): CallOutcome | null {
  return outcome === "denied" || outcome === "stopped" ? outcome : null;
}
