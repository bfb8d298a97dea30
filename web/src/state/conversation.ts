// One conversation as it is shown: the window over its history, the answer that is coming, what waits, what is asked, how
// full it is. All of it is read from the gateway and read again when the process tells of a change; what it tells decides
// only what to read. Made by whoever shows it, and closed by them.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { StreamedAnswer, FollowedEvent, Payload, ToolCall } from "../../../src/client/client.ts";
import {
  HIL_REQUESTED,
  PROC_CHANGED,
  RUN_FINISHED,
  RUN_OUTPUT,
  RUN_STARTED,
  TOOL_FINISHED,
  TOOL_STARTED,
} from "../../../src/protocol/signal-names.ts";
import { agentOf } from "./agents.ts";
import { call, type Result, sentence } from "./call.ts";
import { type FeedListener, listen } from "./feed.ts";
import { Latest } from "./latest.ts";
import { Outbox } from "./outbox.ts";
import { HistoryWindow } from "./window.ts";

export type Question = Result<"proc.approval.list">["pending"][number];
export type Queued = Result<"proc.queue.list">["messages"][number];
export type Segment = Result<"proc.conversation.segments">["segments"][number];
export type ContextState = NonNullable<Result<"proc.history">["context"]>;
/** An answer that has just become a message is among the newest. */
const ENDING_LOOKS = 100;
type About = Result<"proc.conversation.get">["conversation"];
export type CallOutcome = "denied" | "stopped";
type StillRunning = NonNullable<Result<"proc.abort">["stillRunning"]>[number];

/** `messageId` of the message it became, where it became one. */
type Ending = { answer: StreamedAnswer; messageId: number | null };

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
  /** As the process tells of them; the history has a result only when all calls beside it have ended. */
  readonly calls: ReadonlySignal<ReadonlyMap<string, ToolCall>>;
  /** Why the model is asked again. */
  readonly retrying: ReadonlySignal<string | null>;
  /** Words of the newest finished answer, for those who hear the page rather than see it. */
  readonly finished = signal("");
  readonly live: ReadonlySignal<StreamedAnswer | null>;
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
    const { activity } = feed;
    this.live = computed(() => (activity.value.answer?.conversationId === id ? activity.value.answer : null));
    this.calls = computed(() => activity.value.calls);
    this.retrying = computed(() => (activity.value.retrying?.conversationId === id ? activity.value.retrying.why : null));
    this.#stops.push(
      () => feed.stop(),
      effect(() => this.#dropSeen()),
    );
  }

  /** Answers that were coming, the newest last: the ones that ended, and the one that grows with every frame. */
  readonly coming = computed<readonly StreamedAnswer[]>(() => {
    const { value } = this.live;
    const ending = this.#ending.value;
    const read = ending.length === 0 ? [] : (this.window.view?.messages.slice(-ENDING_LOOKS).map(({ id }) => id) ?? []);
    const unread = ending.filter(({ messageId }) => messageId === null || !read.includes(messageId)).map(({ answer }) => answer);
    return newestOfEach(value === null ? unread : [...unread, value]);
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

  #mine(answer: StreamedAnswer | null): StreamedAnswer | null {
    return answer?.conversationId === this.id ? answer : null;
  }

  #heard({ signal, payload }: FollowedEvent, ended: StreamedAnswer | null): void {
    if (payload.conversationId !== undefined && payload.conversationId !== this.id) return;
    switch (signal) {
      case PROC_CHANGED:
        return this.#changed(payload, ended);
      case TOOL_STARTED:
      case TOOL_FINISHED:
        // A question that was answered elsewhere is over.
        if ((this.questions.value.peek() ?? []).some(({ callId }) => callId === payload.callId)) void this.questions.refetch();
        return;
      case HIL_REQUESTED:
        void this.questions.refetch();
        return;
      case RUN_OUTPUT:
        this.finished.value = payload.text;
        return;
      case RUN_STARTED:
      case RUN_FINISHED:
        this.#end(ended, this.window.catchUp());
        void this.queue.refetch();
        if ((this.questions.value.peek() ?? []).length > 0) void this.questions.refetch();
        return;
      default:
    }
  }

  #changed({ changes, context, messageId }: Payload<typeof PROC_CHANGED>, ended: StreamedAnswer | null): void {
    if (context !== undefined) this.context.value = context;
    if (changes.includes("queue")) void this.queue.refetch();
    if (changes.includes("conversations")) void this.about.refetch();
    if (changes.includes("lifecycle") && changes.includes("messages")) {
      void this.segments.refetch();
      void this.queue.refetch();
      this.#end(ended, this.window.readAnew());
    } else if (changes.includes("messages")) this.#end(ended, this.window.catchUp(), messageId ?? null);
  }

  /** The answer stays until the message it became was read. */
  #end(ended: StreamedAnswer | null, read: Promise<void>, messageId: number | null = null): void {
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

/** A gateway that restarted in the middle of an answer asks the model again: what had arrived of the first try is void then. */
function newestOfEach(answers: readonly StreamedAnswer[]): readonly StreamedAnswer[] {
  const isSame = (a: StreamedAnswer, b: StreamedAnswer) => a.runId === b.runId && a.modelCall === b.modelCall;
  return answers.filter((answer, at) => !answers.slice(at + 1).some((later) => isSame(answer, later)));
}

export function outcomeOf(outcome: unknown): CallOutcome | null {
  return outcome === "denied" || outcome === "stopped" ? outcome : null;
}
