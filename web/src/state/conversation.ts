// The state of one open conversation: the window over its history, the streamed answer, queued messages, pending questions and
// context use. All of it is read from the gateway. Events of the process only decide what to read again. The component that
// creates a Conversation closes it.

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import {
  ConnectionLost,
  type FollowedEvent,
  type Payload,
  type ScriptCalls,
  type StreamedAnswer,
  type ToolCall,
} from "../../../src/client/client.ts";
import {
  HIL_REQUESTED,
  PROC_CHANGED,
  RUN_FINISHED,
  RUN_OUTPUT,
  RUN_STARTED,
  TOOL_FINISHED,
  TOOL_STARTED,
} from "../../../src/protocol/signal-names.ts";
import { findAgent } from "./agents.ts";
import type { PendingQuestion } from "./approvals.ts";
import { call, describeError, type Result } from "./call.ts";
import { type FeedListener, listenToFeed } from "./feed.ts";
import { Latest } from "./latest.ts";
import { findOutbox, type NewMessage, type Outbox } from "./outbox.ts";
import { HistoryWindow } from "./history-window.ts";

export type QueuedMessage = Result<"proc.queue.list">["messages"][number];
export type Segment = Result<"proc.conversation.segments">["segments"][number];
export type ContextState = NonNullable<Result<"proc.history">["context"]>;
/** How many of the newest messages are searched for the message that an answer became. */
const RECENT_MESSAGES = 100;
export type ConversationSettings = Result<"proc.settings.get">;
type ConversationInfo = Result<"proc.conversation.get">["conversation"];
export type CallOutcome = "denied" | "stopped";
type RunningCommand = NonNullable<Result<"proc.abort">["stillRunning"]>[number];

/** `messageId`: the message that the answer became; null if unknown. */
type EndedAnswer = { answer: StreamedAnswer; messageId: number | null };

export class Conversation {
  readonly pid: string;
  readonly id: string;
  readonly window: HistoryWindow;
  readonly outbox: Outbox;
  readonly queue: Latest<QueuedMessage[]>;
  readonly questions: Latest<PendingQuestion[]>;
  readonly segments: Latest<Segment[]>;
  readonly info: Latest<ConversationInfo>;
  /** Which model answers, and how often a person is asked. */
  readonly settings: Latest<ConversationSettings>;
  readonly context = signal<ContextState | null>(null);
  readonly problem = signal<string | null>(null);
  /** From the events of the process: the history has a result only after all calls of the same message have ended. */
  readonly calls: ReadonlySignal<ReadonlyMap<string, ToolCall>>;
  /** What scripts have called, by the id of the call that runs the script. The history does not have it. */
  readonly scripts: ReadonlySignal<ReadonlyMap<string, ScriptCalls>>;
  /** Why the model call is being retried. */
  readonly retryReason: ReadonlySignal<string | null>;
  /** Text for screen readers: the newest finished answer. */
  readonly announcement = signal("");
  readonly streamedAnswer: ReadonlySignal<StreamedAnswer | null>;
  /** Answers that have become messages which this page has not read yet. */
  readonly #endedAnswers = signal<readonly EndedAnswer[]>([]);
  readonly #disposers: (() => void)[] = [];
  readonly #feedListener: FeedListener;
  readonly #feed: Signal<ReturnType<typeof listenToFeed>>;
  #isClosed = false;

  constructor(pid: string, id: string) {
    this.pid = pid;
    this.id = id;
    const ids = { pid, conversationId: id };
    this.window = new HistoryWindow(async (offset, limit) => {
      const page = await call("proc.history", { ...ids, offset, limit });
      this.context.value = page.context;
      return page;
    });
    this.outbox = findOutbox(pid, id);
    // What the gateway has accepted is read with the rest, unless it was withdrawn meanwhile.
    this.outbox.removeWhere(({ isAccepted }) => isAccepted);
    this.queue = new Latest(async () => (await call("proc.queue.list", ids)).messages, describeError);
    this.questions = new Latest(
      async () => (await call("proc.approval.list", { pid })).pending.filter(({ conversationId }) => conversationId === id),
      describeError,
    );
    this.segments = new Latest(async () => (await call("proc.conversation.segments", ids)).segments, describeError);
    this.info = new Latest<ConversationInfo>(async () => (await call("proc.conversation.get", ids)).conversation, describeError);
    this.settings = new Latest(() => call("proc.settings.get", ids), describeError);
    this.#feedListener = this.#makeFeedListener();
    this.#feed = signal(listenToFeed(pid, this.#feedListener));
    const activity = computed(() => this.#feed.value.activity.value);
    this.streamedAnswer = computed(() => (activity.value.answer?.conversationId === id ? activity.value.answer : null));
    this.calls = computed(() => activity.value.calls);
    this.scripts = computed(() => activity.value.scripts);
    this.retryReason = computed(() => (activity.value.retrying?.conversationId === id ? activity.value.retrying.why : null));
    this.#disposers.push(
      () => this.#feed.peek().stop(),
      effect(() => this.#dropDeliveredFromOutbox()),
    );
  }

  /** Answers that are not among the messages yet, the newest last: ended ones, then the one that is streaming. */
  readonly pendingAnswers = computed<readonly StreamedAnswer[]>(() => {
    const { value } = this.streamedAnswer;
    const ending = this.#endedAnswers.value;
    const read = ending.length === 0 ? [] : (this.window.view?.messages.slice(-RECENT_MESSAGES).map(({ id }) => id) ?? []);
    const unread = ending.filter(({ messageId }) => messageId === null || !read.includes(messageId)).map(({ answer }) => answer);
    return dropReplacedAnswers(value === null ? unread : [...unread, value]);
  });

  /** The active run of this conversation. */
  readonly run = computed<{ runId: string; state: string } | null>(() => {
    const agent = findAgent(this.pid);
    const liveRunId = this.#liveRunId.value;
    if (agent?.activeRunId != null && agent.activeConversationId === this.id) return { runId: agent.activeRunId, state: agent.state };
    return liveRunId === null ? null : { runId: liveRunId, state: "running" };
  });

  /** Separate from the answer, so that components which show the run do not render for every piece. */
  readonly #liveRunId = computed(() => this.streamedAnswer.value?.runId ?? null);

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#disposers) stop();
  }

  async send(message: NewMessage): Promise<boolean> {
    const isSent = await this.outbox.send(message);
    if (isSent) this.#catchUp();
    return isSent;
  }

  /** Queued messages go on hold. Commands in `stillRunning` may continue despite the stop. */
  async abortRun(): Promise<{ aborted: boolean; stillRunning: readonly RunningCommand[] }> {
    const run = this.run.peek();
    const result = await call("proc.abort", { pid: this.pid, ...(run && { runId: run.runId }), pauseQueue: true });
    return { aborted: result.aborted, stillRunning: result.stillRunning ?? [] };
  }

  async resend(runId: string): Promise<void> {
    if (await this.outbox.resend(runId)) this.#catchUp();
  }

  /** Sends a message in place of the messages from this one on, which stay in an archive. Throws if nothing was changed. */
  async replace(beforeMessageId: number, message: NewMessage): Promise<void> {
    // Before anything is removed: then a page that is closed in between does not lose it.
    this.outbox.store(message);
    try {
      await call("proc.conversation.rewind", { pid: this.pid, conversationId: this.id, beforeMessageId });
    } catch (error) {
      // The messages may be gone all the same, and with them the place where the text was edited.
      if (error instanceof ConnectionLost) return this.outbox.addFailed(message, describeError(error));
      this.outbox.forget(message.runId);
      throw error;
    }
    await Promise.allSettled([this.window.reload(), this.segments.refetch()]);
    void this.send(message);
  }

  /** After a problem: follows the process again if that has ended, and reads everything anew. */
  retry(): void {
    const feed = this.#feed.peek();
    this.#feed.value = listenToFeed(this.pid, this.#feedListener);
    feed.stop();
    this.#keepAnswerUntilRead(null, this.window.reload());
    this.#refetchAll();
  }

  async resumeQueue(): Promise<void> {
    await call("proc.queue.resume", { pid: this.pid, conversationId: this.id });
    await this.queue.refetch();
  }

  #makeFeedListener(): FeedListener {
    return {
      onEvent: (event, ended) => this.#onEvent(event, this.#answerIfOwn(ended)),
      onResync: (isGap, ended) => {
        this.#keepAnswerUntilRead(
          this.#answerIfOwn(ended),
          isGap || this.window.peek() === null ? this.window.reload() : this.window.catchUp(),
        );
        this.#refetchAll();
      },
      onError: (error) => (this.problem.value = describeError(error)),
    };
  }

  #answerIfOwn(answer: StreamedAnswer | null): StreamedAnswer | null {
    return answer?.conversationId === this.id ? answer : null;
  }

  #onEvent({ signal, payload }: FollowedEvent, ended: StreamedAnswer | null): void {
    if (payload.conversationId !== undefined && payload.conversationId !== this.id) return;
    switch (signal) {
      case PROC_CHANGED:
        return this.#onProcessChanged(payload, ended);
      case TOOL_STARTED:
      case TOOL_FINISHED:
        // The question may have been answered elsewhere.
        if ((this.questions.value.peek() ?? []).some(({ callId }) => callId === payload.callId)) void this.questions.refetch();
        return;
      case HIL_REQUESTED:
        void this.questions.refetch();
        return;
      case RUN_OUTPUT:
        this.announcement.value = payload.text;
        return;
      case RUN_STARTED:
      case RUN_FINISHED:
        this.#keepAnswerUntilRead(ended, this.window.catchUp());
        void this.queue.refetch();
        if ((this.questions.value.peek() ?? []).length > 0) void this.questions.refetch();
        return;
      default:
    }
  }

  #onProcessChanged({ changes, context, messageId }: Payload<typeof PROC_CHANGED>, ended: StreamedAnswer | null): void {
    if (context !== undefined) this.context.value = context;
    if (changes.includes("queue")) void this.queue.refetch();
    if (changes.includes("conversations")) void this.info.refetch();
    if (changes.includes("settings")) void this.settings.refetch();
    if (changes.includes("lifecycle") && changes.includes("messages")) {
      void this.segments.refetch();
      void this.queue.refetch();
      this.#keepAnswerUntilRead(ended, this.window.reload());
    } else if (changes.includes("messages")) this.#keepAnswerUntilRead(ended, this.window.catchUp(), messageId ?? null);
  }

  /** Shows an ended answer until `read` has fetched the message it became. */
  #keepAnswerUntilRead(ended: StreamedAnswer | null, read: Promise<void>, messageId: number | null = null): void {
    if (ended !== null) this.#endedAnswers.value = [...this.#endedAnswers.peek(), { answer: ended, messageId }];
    const keptAnswers = this.#endedAnswers.peek();
    void read.then(
      () => {
        this.problem.value = null;
        this.#endedAnswers.value = this.#endedAnswers.peek().filter((one) => !keptAnswers.includes(one));
      },
      (error: unknown) => {
        if (!this.#isClosed) this.problem.value = describeError(error);
      },
    );
  }

  #catchUp(): void {
    this.#keepAnswerUntilRead(null, this.window.catchUp());
    void this.queue.refetch();
  }

  #refetchAll(): void {
    for (const latest of [this.queue, this.questions, this.segments, this.info, this.settings]) void latest.refetch();
  }

  /** Removes from the outbox what is now among the messages or in the queue. */
  #dropDeliveredFromOutbox(): void {
    if (this.outbox.messages.length === 0) return;
    const seen = new Set([
      ...(this.window.view?.messages ?? []).map(({ runId }) => runId),
      ...(this.queue.value.value ?? []).map(({ runId }) => runId),
    ]);
    this.outbox.removeWhere(({ runId }) => seen.has(runId));
  }
}

/** A gateway that restarts during an answer calls the model again: the new answer replaces what had arrived of the old one. */
function dropReplacedAnswers(answers: readonly StreamedAnswer[]): readonly StreamedAnswer[] {
  const isSame = (a: StreamedAnswer, b: StreamedAnswer) => a.runId === b.runId && a.modelCall === b.modelCall;
  return answers.filter((answer, at) => !answers.slice(at + 1).some((later) => isSame(answer, later)));
}
