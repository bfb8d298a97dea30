// An interactive chat in a terminal. It shows the events of the process, in order and once each, so it does not matter which client
// sent a message or whether the connection was lost in between. The footer below shows the status, queued messages and the input
// line. A key answers a question (questions.ts); input that starts with a slash is a command (chat-commands.ts).

import { type Activity, IDLE, reduce } from "../../client/activity.ts";
import type { AnswerPiece, Client, FollowedEvent, LiveAnswer } from "../../client/client.ts";
import { HIL_REQUESTED, PROC_CHANGED, RUN_FINISHED, RUN_STREAM, TOOL_FINISHED, TOOL_STARTED } from "../../protocol/signal-names.ts";
import { runCommand } from "./chat-commands.ts";
import { makeChatFooter } from "./footer.ts";
import { decisionLine, type Decision, EXACTLY, Questions } from "./questions.ts";
import { ChatView, personText, type Piece } from "./chat-view.ts";
import { onKeys } from "../terminal/keys.ts";
import { type Key, LineEditor } from "../terminal/line-editor.ts";
import { stdoutMode } from "../terminal/text-style.ts";
import { Page } from "../terminal/page.ts";
import { EXIT_CANCELLED, Problem } from "../terminal/problem.ts";
import type { ConversationRef } from "./processes.ts";
import { fetchModel, RunPhase } from "./run-phase.ts";
import { describeStop, truncate, spokenText } from "./message-text.ts";
import { escapeControls } from "../terminal/terminal.ts";
import { BUDGET, type Question, pickQuestionFields, questionText } from "./tool-call.ts";

type PendingMessage = { runId: string; text: string; paused?: true | undefined };

const EARLIER_MESSAGES = 6;
const HISTORY_MESSAGES = 60;
const TICK_MS = 1_000;

export class ChatSession {
  readonly client: Client;
  readonly where: ConversationRef;
  readonly #look = stdoutMode();
  readonly #view: ChatView;
  readonly #page: Page;
  readonly #questions = new Questions();
  #editor = new LineEditor();
  /** Set while the person types the reason of a refusal. */
  #reason: LineEditor | null = null;
  /** Of the whole process, which may be working in another conversation. */
  #activity: Activity = IDLE;
  /** Messages sent from here that are not in the conversation yet. */
  #sent: PendingMessage[] = [];
  /** Messages that the gateway lists as queued. */
  #queued: PendingMessage[] = [];
  /** Runs whose message has left the queue. */
  readonly #startedRuns = new Set<string>();
  readonly #phase = new RunPhase();
  #isStopping = false;
  #isLeaving = false;
  #isConnected = true;
  /** Events that arrive while the history loads are handled after it; null while no history loads. */
  #deferred: (() => void)[] | null = null;
  #lastMessageId = 0;
  #end: (code: number | Error) => void = () => {};

  constructor(client: Client, where: ConversationRef, { isVerbose }: { isVerbose: boolean }) {
    this.client = client;
    this.where = where;
    this.#view = new ChatView(this.#look, { isVerbose, showsPeople: true, columns: () => this.#page.columns });
    this.#page = new Page(process.stdout, (isLineOpen) => this.#makeFooter(isLineOpen));
    this.#questions.onArmed = () => this.#page.redraw();
  }

  async run(): Promise<number> {
    const { client } = this;
    client.keepConnected();
    const outcome = new Promise<number | Error>((resolve) => (this.#end = resolve));
    client.onStatus = (status, reason) => {
      this.#isConnected = status === "connected";
      if (status === "closed") return this.#end(new Problem(`The gateway closed the connection: ${reason?.message ?? ""}`));
      this.#page.redraw();
    };
    const stopKeys = onKeys((key) => this.#press(key));
    const redraw = () => this.#page.redraw();
    process.stdout.on("resize", redraw);
    // The seconds of a phase.
    const ticks = setInterval(() => {
      if (this.#isWorking()) this.#page.redraw();
    }, TICK_MS);
    const afterLoad = (handle: () => void) => (this.#deferred === null ? handle() : void this.#deferred.push(handle));
    this.#deferred = [];
    const subscription = client.follow({
      pid: this.where.pid,
      onEvent: (event) => afterLoad(() => this.#handleEvent(event)),
      onPiece: (piece) => afterLoad(() => this.#handlePiece(piece)),
      onLiveAnswer: (live) => afterLoad(() => this.#handleLive(live)),
      onGap: () => afterLoad(() => this.reportFailure(this.load("Some events were missed while disconnected. The last messages:"))),
      onError: (error) => this.#end(error),
    });
    try {
      await Promise.race([subscription.begun.then(() => this.load()), outcome]);
      const code = await outcome;
      if (code instanceof Error) throw code;
      return code;
    } finally {
      this.#questions.ignoreKeys();
      clearInterval(ticks);
      subscription.stop();
      process.stdout.off("resize", redraw);
      this.#end = () => {};
      this.#page.end();
      stopKeys();
    }
  }

  /** Shows the end of the conversation's history, then the events since. */
  async load(title?: string): Promise<void> {
    this.#deferred ??= [];
    const { pid, conversationId } = this.where;
    this.#showModel();
    const [history, { pending }, { processes }] = await Promise.all([
      this.client.call("proc.history", { pid, conversationId, limit: HISTORY_MESSAGES, offset: -HISTORY_MESSAGES }),
      this.client.call("proc.approval.list", { pid }),
      this.client.call("proc.list", {}),
    ]);
    const { activeRunId = null, activeConversationId = null } = processes.find((one) => one.pid === pid) ?? {};
    this.#activity = { ...IDLE, runs: new Map(activeRunId === null ? [] : [[activeRunId, activeConversationId ?? ""]]) };
    this.#lastMessageId = history.messages.at(-1)?.id ?? 0;
    const words = history.messages.flatMap((message) => {
      const text = spokenText(message);
      return text === null ? [] : [{ role: message.role, text }];
    });
    const draft = this.#editor.text;
    this.#editor = new LineEditor(words.flatMap(({ role, text }) => (role === "user" ? [text] : [])).toReversed());
    this.#editor.setText(draft);
    this.#view.markShown(words.findLast(({ role }) => role === "assistant")?.text ?? "");
    this.#showEarlierMessages(words, history.messageCount, title);
    this.#questions.remove(() => true);
    for (const one of pending) if (one.conversationId === conversationId) this.#ask(one);
    const deferred = this.#deferred;
    this.#deferred = null;
    for (const handle of deferred) handle();
    await this.#refreshQueue();
  }

  /** Shows a line from the chat client itself, between the messages of the conversation. */
  remark(text: string, style: "dim" | "red" = "dim"): void {
    this.#show(this.#view.remark(escapeControls(text, "\n\t"), style));
  }

  toggleVerbose(): boolean {
    return (this.#view.isVerbose = !this.#view.isVerbose);
  }

  leave(code = 0): void {
    if (this.#isWorking()) this.remark("The run continues; to see the result: gsv chat");
    this.#end(code);
  }

  async abort(): Promise<void> {
    const runId = [...this.#activity.runs].find(([, conversationId]) => conversationId === this.where.conversationId)?.[0];
    if (runId === undefined) return this.remark("No run to stop");
    this.#isStopping = true;
    this.#page.redraw();
    const { stillRunning, pausedCount } = await this.client.call("proc.abort", { pid: this.where.pid, runId, pauseQueue: true });
    const rest = describeStop({ stillRunning, pausedCount, how: "/resume" });
    if (rest !== "") this.remark(rest);
  }

  async resume(): Promise<void> {
    const { resumed } = await this.client.call("proc.queue.resume", { ...this.where });
    if (resumed === 0) this.remark("No messages are on hold");
  }

  /** Shows an error line if the work fails. */
  reportFailure(work: Promise<unknown>): void {
    work.catch((error: Error) => this.remark(`error: ${error.message}`, "red"));
  }

  #showEarlierMessages(words: readonly { role: string; text: string }[], messageCount: number, title?: string): void {
    const { conversationId } = this.where;
    const name = conversationId === "default" ? "" : ` in ${conversationId}`;
    const earlier = words.slice(-EARLIER_MESSAGES);
    if (title !== undefined) this.remark(title);
    else if (messageCount > 0) this.remark(`${messageCount} messages${name} so far. The last ones:`);
    else this.remark(name === "" ? "New conversation. Type /help for commands." : `New conversation: ${conversationId}`);
    for (const { role, text } of earlier) {
      if (role === "user") this.#show([{ stream: "stdout", text: `\n${personText(truncate(text), this.#look)}\n\n` }]);
      else this.remark(truncate(text));
    }
  }

  #handleEvent(event: FollowedEvent): void {
    const { signal, payload } = event;
    const { conversationId } = payload;
    this.#activity = reduce(this.#activity, event);
    if (conversationId !== this.where.conversationId) {
      if (signal === HIL_REQUESTED) this.remark(`A question is waiting in conversation ${conversationId}: /open ${conversationId}`);
      return;
    }
    if (signal === HIL_REQUESTED) {
      this.#show(this.#view.showEvent(event, Date.now()));
      return this.#ask(payload);
    }
    if (signal === PROC_CHANGED) {
      if (payload.changes.includes("messages") && payload.role === "user") {
        this.#startedRuns.add(payload.runId ?? "");
        // The history that was loaded contains it already.
        if (payload.messageId !== undefined && payload.messageId <= this.#lastMessageId) return;
      }
      if (payload.changes.includes("settings")) this.#showModel();
      if (payload.changes.includes("queue")) this.reportFailure(this.#refreshQueue());
    }
    if (signal === RUN_FINISHED) {
      this.#startedRuns.add(payload.runId);
      this.#isStopping = false;
    }
    this.#show(this.#view.showEvent(event, Date.now()));
    if (signal === TOOL_STARTED || signal === TOOL_FINISHED) this.#closeQuestions(({ callId }) => callId === payload.callId);
    if (signal === RUN_FINISHED) this.#closeQuestions(({ runId }) => runId === payload.runId);
  }

  #handlePiece(piece: AnswerPiece): void {
    if (piece.conversationId !== this.where.conversationId) return;
    this.#closeQuestions(({ syscall, runId }) => syscall === BUDGET && runId === piece.runId);
    this.#activity = reduce(this.#activity, { signal: RUN_STREAM, payload: piece });
    this.#show(this.#view.showEvent({ signal: RUN_STREAM, payload: piece }, Date.now()));
  }

  #handleLive(live: LiveAnswer | null): void {
    this.#show(this.#view.showLive(live?.conversationId === this.where.conversationId ? live : null));
  }

  #ask(question: Question): void {
    if (this.#questions.add(pickQuestionFields(question))) this.#showQuestion();
  }

  #closeQuestions(isOver: Parameters<Questions["remove"]>[0]): void {
    if (this.#questions.remove(isOver)) this.#showQuestion();
  }

  #showQuestion(isWhole = false): void {
    const { openQuestion } = this.#questions;
    if (openQuestion === null) return;
    this.#reason = null;
    this.#questions.restartPause(!this.#editor.isEmpty);
    this.#show([...this.#view.remark(""), ...this.#view.remark(questionText(openQuestion, this.#look, isWhole))]);
  }

  #show(pieces: readonly Piece[]): void {
    this.#page.write(pieces.map(({ text }) => text).join(""));
  }

  #isWorking(): boolean {
    return [...this.#activity.runs.values()].includes(this.where.conversationId);
  }

  #press(key: Key): void {
    const { name = "", ctrl = false } = key;
    const wasLeaving = this.#isLeaving;
    this.#isLeaving = false;
    if (ctrl && name === "c") this.#interrupt(wasLeaving);
    else if (this.#reason !== null) this.#handleReasonKey(key, this.#reason);
    else if (ctrl && name === "d" && this.#editor.isEmpty) return this.leave();
    else if (ctrl && name === "o") this.#show(this.#view.showDetails());
    else if (ctrl && name === "l") process.stdout.write("\u001b[2J\u001b[H");
    else if (this.#questions.acceptsKeys) this.#handleAnswerKey(key);
    else if (name === "tab" && this.#questions.openQuestion !== null) this.#questions.acceptKeys();
    else {
      if (this.#editor.press(key) === "submit") this.#submit();
      this.#questions.restartPause(!this.#editor.isEmpty);
    }
    this.#page.redraw();
  }

  #interrupt(wasLeaving: boolean): void {
    if (this.#reason !== null) this.#reason = null;
    else if (this.#isWorking()) {
      if (this.#isStopping || wasLeaving) return this.leave(EXIT_CANCELLED);
      this.reportFailure(this.abort());
    } else if (!this.#editor.isEmpty) this.#editor.setText("");
    else if (wasLeaving) this.leave();
    else this.#isLeaving = true;
  }

  #handleAnswerKey({ text = "" }: Key): void {
    const { openQuestion } = this.#questions;
    if (openQuestion === null) return;
    if (text === "y") this.#decide({ decision: "approve" });
    else if (text === "a" && openQuestion.syscall !== BUDGET) this.#decide({ decision: "approve", ...EXACTLY });
    else if (text === "n") this.#reason = new LineEditor();
    else if (text === "w" && openQuestion.syscall !== BUDGET) this.#showQuestion(true);
  }

  #handleReasonKey(key: Key, editor: LineEditor): void {
    if (key.name === "escape") this.#reason = null;
    else if (editor.press(key) === "submit") {
      this.#reason = null;
      const reason = editor.text.trim();
      this.#decide({ decision: "deny", ...(reason === "" ? {} : { reason }) });
    }
  }

  #decide(decision: Decision): void {
    const { openQuestion } = this.#questions;
    if (openQuestion === null) return;
    const { requestId } = openQuestion;
    // Shown at once, so that it precedes the effects of the decision.
    this.remark(`  ${decisionLine(decision)}`);
    const request = this.client.call("proc.hil", { pid: this.where.pid, requestId, ...decision });
    this.reportFailure(request.finally(() => this.#closeQuestions((one) => one.requestId === requestId)));
    this.#questions.ignoreKeys();
  }

  #submit(): void {
    const text = this.#editor.takeText().trim();
    if (text === "") return;
    if (text === "exit" || text === "quit") return this.leave();
    if (text.startsWith("/")) return this.reportFailure(runCommand(this, text));
    const sent = { runId: crypto.randomUUID(), text };
    this.#sent.push(sent);
    const request = this.client.call("proc.send", { ...this.where, message: text, runId: sent.runId });
    request.catch(() => {
      // The gateway did not accept it: the text goes back into the editor, to be sent again.
      this.#sent = this.#sent.filter((one) => one !== sent);
      if (this.#editor.isEmpty) this.#editor.setText(text);
    });
    this.reportFailure(request);
  }

  #showModel(): void {
    void fetchModel(this.client, this.where).then((model) => (this.#phase.model = model));
  }

  async #refreshQueue(): Promise<void> {
    const { messages } = await this.client.call("proc.queue.list", { ...this.where });
    this.#queued = messages;
    this.#page.redraw();
  }

  #makeFooter(isLineOpen: boolean) {
    const queued = this.#queued.filter(({ runId }) => !this.#startedRuns.has(runId));
    const knownRuns = new Set([...this.#startedRuns, ...queued.map(({ runId }) => runId)]);
    this.#sent = this.#sent.filter(({ runId }) => !this.#startedRuns.has(runId));
    const { openQuestion, acceptsKeys } = this.#questions;
    return makeChatFooter({
      columns: this.#page.columns,
      rows: this.#page.rows,
      isStyled: this.#look === "styled",
      isLineOpen,
      question: openQuestion,
      isArmed: acceptsKeys,
      reason: this.#reason,
      editor: this.#editor,
      queued: queued.map(({ text, paused }) => `${paused ? "on hold" : "queued"}: ${text}`),
      sending: this.#sent.filter(({ runId }) => !knownRuns.has(runId)).map(({ text }) => text),
      isWorking: this.#isWorking(),
      phase: this.#phase.describe(this.#activity, this.where.conversationId),
      isPhaseSilent: this.#phase.isSilent(),
      isStopping: this.#isStopping,
      isLeaving: this.#isLeaving,
      isConnected: this.#isConnected,
    });
  }
}
