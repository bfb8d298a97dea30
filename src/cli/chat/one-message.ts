// Sends one message and prints its answer, for scripts and single questions. It follows the process from before the message is sent
// until its run has ended, so a disconnect in between loses nothing.

import type { Client, FollowedEvent, Payload } from "../../client/client.ts";
import { type Activity, IDLE, reduce } from "../../client/activity.ts";
import { HIL_REQUESTED, RUN_FINISHED, RUN_STARTED, RUN_STREAM, TOOL_FINISHED, TOOL_STARTED } from "../../protocol/signal-names.ts";
import { askKey } from "../terminal/ask-key.ts";
import { isInteractive } from "../terminal/ask.ts";
import { decisionLine } from "./questions.ts";
import { ChatView, type Piece } from "./chat-view.ts";
import { stdoutMode } from "../terminal/text-style.ts";
import { EXIT_CANCELLED, Problem } from "../terminal/problem.ts";
import type { ConversationRef } from "./processes.ts";
import { fetchModel, RunPhase } from "./run-phase.ts";
import { StatusLine } from "../terminal/status-line.ts";
import { describeStop } from "./message-text.ts";
import { columnsOf, printNote, printJson } from "../terminal/terminal.ts";
import { type Question, pickQuestionFields, questionText } from "./tool-call.ts";

export type OneMessageOptions = {
  isVerbose: boolean;
  /** One object at the end, or a line of JSON for each event, instead of text. */
  prints: "text" | "object" | "events";
  /** Without a terminal to ask at, wait until a question is answered elsewhere. */
  waits: boolean;
};

const TICK_MS = 1_000;

/** A question waits, and there is no terminal to answer it at. */
export const EXIT_QUESTION = 4;

type End = { outcome: Payload<typeof RUN_FINISHED> } | { question: Question };

export async function chatOnce(client: Client, where: ConversationRef, message: string, options: OneMessageOptions): Promise<number> {
  client.keepConnected();
  const once = new OneMessageChat(client, where, options);
  const end = await once.sendAndWait(message);
  if (options.prints === "object") printJson(once.makeResult(end));
  if ("question" in end) return EXIT_QUESTION;
  const { status } = end.outcome;
  return status === "ok" ? 0 : status === "aborted" ? EXIT_CANCELLED : 1;
}

class OneMessageChat {
  readonly #client: Client;
  readonly #where: ConversationRef;
  readonly #options: OneMessageOptions;
  readonly #runId = crypto.randomUUID();
  readonly #view: ChatView;
  readonly #look = stdoutMode();
  #activity: Activity = IDLE;
  readonly #phase = new RunPhase();
  readonly #status = new StatusLine();
  #hasBegun = false;
  #hasEnded = false;
  #interrupts = 0;
  /** Questions asked here one after the other, each with the controller that withdraws it. */
  readonly #open = new Map<Question, AbortController>();
  #asking: Promise<void> = Promise.resolve();
  #end: (end: End) => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(client: Client, where: ConversationRef, options: OneMessageOptions) {
    this.#client = client;
    this.#where = where;
    this.#options = options;
    this.#view = new ChatView(this.#look, { isVerbose: options.isVerbose, columns: () => columnsOf(process.stdout) });
  }

  async sendAndWait(message: string): Promise<End> {
    const { pid, conversationId } = this.#where;
    const end = new Promise<End>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    const isOurs = (answer: { conversationId: unknown }) => this.#hasBegun && answer.conversationId === conversationId;
    const subscription = this.#client.follow({
      pid,
      onEvent: (event) => this.#handleEvent(event),
      onPiece: (piece) => {
        if (!isOurs(piece)) return;
        this.#activity = reduce(this.#activity, { signal: RUN_STREAM, payload: piece });
        this.#show(this.#view.showEvent({ signal: RUN_STREAM, payload: piece }, Date.now()));
      },
      onLiveAnswer: (live) => {
        if (this.#hasBegun) this.#show(this.#view.showLive(live !== null && isOurs(live) ? live : null));
      },
      onGap: () => this.#fail(new Problem("Some events were missed while disconnected. To see the conversation: gsv proc history")),
      onError: (error) => this.#fail(error),
    });
    this.#client.onStatus = (status, reason) => {
      if (status === "closed") this.#fail(reason ?? new Problem("The gateway closed the connection"));
      else this.#note(status === "connected" ? "gsv: reconnected" : "gsv: connection lost; reconnecting");
    };
    const onInterrupt = () => this.#interrupt();
    process.on("SIGINT", onInterrupt);
    void fetchModel(this.#client, this.#where).then((model) => (this.#phase.model = model));
    const ticks = setInterval(() => this.#showPhase(), TICK_MS);
    try {
      await subscription.begun;
      this.#client.call("proc.send", { pid, conversationId, message, runId: this.#runId }).then(
        ({ queued }) => {
          if (queued === true && !this.#hasBegun) this.#note("gsv: the agent is busy; your message is queued");
        },
        (error: Error) => this.#fail(error),
      );
      return await end;
    } finally {
      process.off("SIGINT", onInterrupt);
      clearInterval(ticks);
      this.#status.erase();
      this.#withdrawQuestions(() => true);
      subscription.stop();
    }
  }

  makeResult(end: End): object {
    const tools = [...this.#activity.calls.values()].map(({ name, syscall, args, end }) => ({
      name,
      syscall,
      args,
      ...(end === null ? {} : { ok: end.ok }),
    }));
    const common = { ...this.#where, runId: this.#runId, tools };
    if ("question" in end) return { ...common, status: "waiting", question: end.question };
    const { status, reason, text, error, usage } = end.outcome;
    return { ...common, status, reason, text, ...(error === undefined ? {} : { error }), ...(usage === undefined ? {} : { usage }) };
  }

  #handleEvent({ isPast: _, ...event }: FollowedEvent): void {
    const { signal, payload } = event;
    if (this.#hasEnded || payload.conversationId !== this.#where.conversationId) return;
    if (signal === RUN_STARTED && payload.runId === this.#runId) this.#hasBegun = true;
    const end = signal === RUN_FINISHED && payload.runId === this.#runId ? payload : null;
    // A message that is withdrawn from the queue ends without having started.
    if (!this.#hasBegun && end === null) return;
    if (this.#options.prints === "events") process.stdout.write(`${JSON.stringify(event)}\n`);
    // The end of a run drops its calls from the activity, and the result object needs them.
    if (end === null) this.#activity = reduce(this.#activity, event);
    this.#show(this.#view.showEvent(event, Date.now()));
    if (signal === TOOL_STARTED || signal === TOOL_FINISHED) this.#withdrawQuestions(({ callId }) => callId === payload.callId);
    if (signal === HIL_REQUESTED) this.#addQuestion(pickQuestionFields(payload));
    if (end === null) return;
    this.#hasEnded = true;
    this.#end({ outcome: end });
  }

  #addQuestion(question: Question): void {
    if (!isInteractive()) return this.#reportQuestion(question);
    this.#open.set(question, new AbortController());
    this.#asking = this.#asking.then(() => this.#ask(question)).catch((error: Error) => this.#fail(error));
  }

  /** Withdraws questions that no longer need an answer from this terminal. */
  #withdrawQuestions(isOver: (question: Question) => boolean): void {
    for (const [question, controller] of this.#open) if (isOver(question)) controller.abort();
  }

  async #ask(question: Question): Promise<void> {
    const controller = this.#open.get(question);
    if (controller === undefined || controller.signal.aborted) return;
    this.#showQuestion(question);
    const answer = await askKey(question, controller.signal, this.#look);
    this.#open.delete(question);
    if (answer === "interrupt") this.#interrupt();
    if (answer === null || answer === "interrupt") return;
    printNote(`  ${decisionLine(answer)}`);
    await this.#client.call("proc.hil", { pid: this.#where.pid, requestId: question.requestId, ...answer });
  }

  #reportQuestion(question: Question): void {
    const { requestId } = question;
    this.#showQuestion(question);
    this.#note(`gsv: waiting for your answer: gsv approvals approve ${requestId}, or gsv approvals deny ${requestId}`);
    if (!this.#options.waits) this.#end({ question });
  }

  #showQuestion(question: Question): void {
    if (this.#options.prints === "text") this.#show(this.#view.remark(questionText(question, this.#look)));
    else {
      this.#status.erase();
      process.stderr.write(`${questionText(question, this.#look)}\n`);
    }
  }

  #interrupt(): void {
    if (++this.#interrupts > 1) process.exit(EXIT_CANCELLED);
    const stopping = "stopping; press Ctrl-C again to leave";
    // At a terminal it follows the answer so far, on a line of its own.
    if (this.#options.prints === "text" && this.#look !== "raw") this.#show(this.#view.remark(stopping, "dim"));
    else this.#note(`gsv: ${stopping}`);
    this.#client.call("proc.abort", { pid: this.#where.pid, runId: this.#runId, pauseQueue: true }).then(
      ({ stillRunning, pausedCount }) => {
        const rest = describeStop({ stillRunning, pausedCount, how: "gsv chat, then /resume" });
        if (rest !== "") this.#note(`gsv: ${rest}`);
      },
      (error: Error) => this.#fail(error),
    );
  }

  #note(text: string): void {
    this.#status.erase();
    printNote(text);
  }

  /** What the run does, and for how long: on standard error, so that it is seen while the answer goes to a pipe. */
  #showPhase(): void {
    const words = this.#phase.describe(this.#activity, this.#where.conversationId);
    const mayShow = this.#open.size === 0 && !(process.stdout.isTTY && this.#view.isLineOpen) && this.#phase.isSilent();
    this.#status.show(mayShow && this.#interrupts === 0 ? `${words}; Ctrl-C to stop` : "");
  }

  #show(pieces: readonly Piece[]): void {
    if (pieces.length > 0) this.#status.erase();
    if (this.#options.prints !== "text") return;
    for (const { stream, text } of pieces) process[stream].write(text);
  }
}
