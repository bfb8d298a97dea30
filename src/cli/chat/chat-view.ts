// A run as a terminal shows it: signals in, pieces of text out. An answer is shown while it streams, and once: the whole text that
// follows the stream fills in what the stream missed, and an answer that starts over because the gateway restarted continues where
// the screen stopped. In a pipe only whole texts go to stdout, and remarks about the run go to stderr. The view does no I/O and
// sets no timers; its caller passes the time.

import { type Activity, type ActivityEvent, answerText, IDLE, reduce, setLiveAnswer, type ToolCall } from "../../client/activity.ts";
import type { LiveAnswer } from "../../protocol/proc-records.ts";
import {
  CHAT_COMPLETE,
  PROC_CHANGED,
  RUN_FINISHED,
  RUN_OUTPUT,
  RUN_RETRYING,
  RUN_STARTED,
  RUN_STREAM,
  TOOL_FINISHED,
  TOOL_STARTED,
} from "../../protocol/signal-names.ts";
import type { AnswerPiece, Payload } from "../../protocol/signals.ts";
import { type OutputMode, type Style, applyStyle } from "../terminal/text-style.ts";
import { Markdown } from "../terminal/markdown.ts";
import { textIn } from "./message-text.ts";
import { escapeControls } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap.ts";
import { failureText, adviceAfterFailedRun, resultText, toolLine } from "./tool-call.ts";

export type Piece = { stream: "stdout" | "stderr"; text: string };

export type ViewOptions = {
  /** Also shows the results of tools and the thoughts of the model. */
  isVerbose?: boolean;
  /** Shows the messages of people, for a conversation that may have several of them. */
  showsPeople?: boolean;
  /** The width at which text is wrapped (default: it is not). */
  columns?: () => number;
};

export class ChatView {
  readonly #look: OutputMode;
  readonly #showsPeople: boolean;
  readonly #columns: () => number;
  isVerbose: boolean;
  #pieces: Piece[] = [];
  #isLineOpen = false;
  #markdown: Markdown | null = null;
  #activity = IDLE;
  /** The text on the screen of the answer that is arriving, or of the attempt before it. */
  #shown = "";
  /** The last whole text, so that the end of a run does not show it again. */
  #lastText = "";
  #lastRun = "";
  /** The last text of the history, which is on the screen already; its event may still arrive. */
  #historyText = "";
  /** How the last run ended, while nothing else has happened: runs that end together show their end once. */
  #lastEnd = "";
  /** The tool call whose line is still open. */
  #openTool: string | null = null;
  #thinkingSince: number | null = null;
  #thoughts = "";
  /** More of the last tool call or thought, shown on request. */
  #details = "";

  constructor(look: OutputMode, { isVerbose = false, showsPeople = false, columns = () => Infinity }: ViewOptions = {}) {
    this.#columns = columns;
    this.#look = look;
    this.isVerbose = isVerbose;
    this.#showsPeople = showsPeople;
  }

  showEvent(event: ActivityEvent, now: number): Piece[] {
    const before = this.#activity;
    this.#activity = reduce(before, event);
    this.#handleEvent(event, before, now);
    return this.#flush();
  }

  /** The live answer when the client starts to follow or reconnects; null where no answer is arriving. */
  showLive(live: LiveAnswer | null): Piece[] {
    this.#activity = setLiveAnswer(this.#activity, live);
    const { answer } = this.#activity;
    if (answer !== null && this.#look !== "raw") {
      const whole = answerText(answer);
      const isShown =
        answer.runId === this.#lastRun && textAfterShown(this.#lastText, whole) === "" && textAfterShown(whole, this.#lastText) === "";
      if (isShown) this.#shown = whole;
      else this.#showAnswer();
    }
    return this.#flush();
  }

  /** Shows a line supplied by the caller. */
  remark(line: string, style?: Style): Piece[] {
    this.#remark(line, style);
    return this.#flush();
  }

  /** More of the last tool call or thought. */
  showDetails(): Piece[] {
    return this.remark(this.#details === "" ? "nothing to show yet" : this.#details, "dim");
  }

  /** The caller has shown this text, the last of the history; its event may still arrive. */
  markShown(whole: string): void {
    this.#lastText = whole;
    this.#historyText = whole;
  }

  /** Whether the last line is unfinished. */
  get isLineOpen(): boolean {
    return this.#isLineOpen;
  }

  #flush(): Piece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #handleEvent({ signal, payload }: ActivityEvent, before: Activity, now: number): void {
    if (signal !== PROC_CHANGED && signal !== RUN_FINISHED && signal !== CHAT_COMPLETE) this.#lastEnd = "";
    switch (signal) {
      case RUN_STARTED:
        // Another run started before the interrupted answer could start over.
        if (this.#shown !== "") this.#remark("the answer was interrupted", "dim");
        this.#endOpenOutput();
        this.#lastText = "";
        this.#historyText = "";
        return;
      case PROC_CHANGED:
        return this.#showChange(payload);
      case RUN_STREAM:
        // Stale pieces do not change the answer.
        if (this.#activity.answer !== before.answer && this.#look !== "raw") this.#showPiece(payload, now);
        return;
      case RUN_OUTPUT:
        this.#lastRun = payload.runId;
        return this.#showOutput(payload.text);
      case TOOL_STARTED:
        return this.#startTool(payload);
      case TOOL_FINISHED:
        return this.#finishTool(payload, before);
      case RUN_RETRYING:
        return this.#showRetry(payload);
      case RUN_FINISHED:
        return this.#finishRun(payload);
      default:
    }
  }

  #showPiece({ event }: AnswerPiece, now: number): void {
    if (event.type === "thinking_start") this.#startThinking(now);
    else if (event.type === "thinking_delta") this.#addThought(event.delta);
    else if (event.type === "thinking_end" || event.type === "text_delta") this.#endThinking(now);
    this.#showAnswer();
  }

  /** Shows the part of the answer that is not on the screen yet. */
  #showAnswer(): void {
    const { answer } = this.#activity;
    const whole = answer === null ? "" : answerText(answer);
    // An answer that starts over continues where the screen stopped.
    if (this.#shown.startsWith(whole)) return;
    let rest = whole.slice(this.#shown.length);
    if (!whole.startsWith(this.#shown)) {
      this.#remark("the answer was interrupted; it starts again", "dim");
      rest = whole;
    }
    this.#showText(rest);
    this.#shown = whole;
  }

  #startThinking(now: number): void {
    if (this.#thinkingSince !== null) return;
    this.#startRemark(`${this.#paint("•", "dim")} ${this.#paint("thinking", "dim")}`);
    if (this.isVerbose) this.#addPiece("\n");
    this.#thinkingSince = now;
    this.#thoughts = "";
  }

  #addThought(delta: string): void {
    this.#thoughts += delta;
    if (this.isVerbose && this.#thinkingSince !== null) this.#addPiece(this.#paint(escapeControls(delta, "\n\t"), "dim"));
  }

  #endThinking(now: number): void {
    if (this.#thinkingSince === null) return;
    const time = this.#paint(`  ${formatElapsed(now - this.#thinkingSince)}`, "dim");
    this.#thinkingSince = null;
    this.#details = escapeControls(this.#thoughts, "\n\t");
    this.#addPiece(this.isVerbose ? "\n" : `${time}\n`);
  }

  #showChange({ changes, event, archivedMessages = 0, role, content }: Payload<typeof PROC_CHANGED>): void {
    if (event === "conversation.compacted" && this.#look !== "raw")
      return this.#remark(`${archivedMessages} earlier messages were archived and replaced with a summary`, "dim");
    if (!this.#showsPeople || !changes.includes("messages") || role !== "user") return;
    this.#endOpenOutput();
    this.#addPiece(`\n${personText(content, this.#look)}\n\n`);
  }

  #showOutput(whole: string): void {
    if (whole.trim() !== this.#historyText.trim() || this.#shown !== "") this.#showUnshownText(whole);
    this.#historyText = "";
    this.#endOpenOutput();
  }

  /** Shows the part of a whole text that is not on the screen yet, or all of it if the screen shows another text. */
  #showUnshownText(whole: string): void {
    if (whole.trim() === "") return;
    const rest = textAfterShown(whole, this.#shown);
    if (rest === null) this.#endText();
    this.#showText(rest ?? whole);
    this.#lastText = whole;
  }

  #startTool(call: Payload<typeof TOOL_STARTED>): void {
    this.#endOpenOutput();
    if (this.#look === "raw") return;
    this.#startRemark(`${this.#bulletOf(call)} ${toolLine(call)}`);
    this.#openTool = call.callId;
  }

  #finishTool(call: Payload<typeof TOOL_FINISHED>, before: Activity): void {
    const { callId } = call;
    const line = toolLine(findCall(before, call) ?? { ...call, args: {} });
    const { ok, outcome, text, durationMs } = findCall(this.#activity, call)!.end!;
    const failure = outcome === null ? this.#paint(failureText(text), "red") : this.#paint(outcome, "yellow");
    const how = ok ? this.#paint("ok", "green") : failure;
    // A denied call did not run, so it has no duration.
    const end = `  ${how}${outcome === "denied" ? "" : ` ${this.#paint(formatElapsed(durationMs), "dim")}`}`;
    const result = resultText(text);
    this.#details = `${line}\n${result}`;
    if (this.#openTool === callId) {
      this.#openTool = null;
      this.#addPiece(`${end}\n`);
    } else this.#remark(`${this.#bulletOf(call)} ${line}${end}`);
    if (this.isVerbose && result !== "") this.#remark(result, "dim");
  }

  /** The calls of a script are indented. */
  #bulletOf({ scriptCallId }: { scriptCallId?: string | undefined }): string {
    return `${scriptCallId === undefined ? "" : "  "}${this.#paint("•", "dim")}`;
  }

  #showRetry({ waitMs, why }: Payload<typeof RUN_RETRYING>): void {
    const hasShown = this.#shown.trim() !== "";
    this.#endOpenOutput();
    const wait = waitMs < 1_000 ? "now" : `in ${formatElapsed(waitMs)}`;
    const reason = why === "" ? "" : ` (${firstLine(why)})`;
    const text = `the model call failed${reason}; retrying ${wait}${hasShown ? "; ignore the answer so far" : ""}`;
    this.#remark(wrapText(text, this.#columns()), "yellow");
  }

  #finishRun({ text, status, aborted, error = "", reason }: Payload<typeof RUN_FINISHED>): void {
    const whole = text ?? "";
    if (textAfterShown(whole, this.#lastText) !== "") this.#showUnshownText(whole);
    this.#endOpenOutput();
    const end = `${status} ${error}`;
    if (this.#lastEnd === end) return;
    this.#lastEnd = end;
    if (status === "aborted" || aborted === true) this.#remark("stopped", "dim");
    else if (status === "error") {
      this.#remark(wrapText(`error: ${escapeControls(error || reason, "\n")}`, this.#columns()), "red");
      const next = adviceAfterFailedRun(reason);
      if (next !== "") this.#remark(wrapText(next, this.#columns()), "dim");
    }
  }

  /** Shows text of the model. */
  #showText(delta: string): void {
    if (delta === "") return;
    if (this.#markdown === null) {
      this.#endToolLine();
      this.#markdown = new Markdown(this.#look, this.#columns);
    }
    this.#addPiece(this.#markdown.push(delta));
  }

  #endText(): void {
    const rest = this.#markdown?.end() ?? "";
    this.#markdown = null;
    this.#addPiece(rest);
    if (this.#isLineOpen) this.#addPiece("\n");
  }

  #endToolLine(): void {
    if (this.#openTool === null) return;
    this.#openTool = null;
    this.#addPiece("\n");
  }

  #endOpenOutput(): void {
    if (this.#thinkingSince !== null) this.#addPiece("\n");
    this.#thinkingSince = null;
    this.#endToolLine();
    this.#endText();
    this.#shown = "";
  }

  /** Shows a line of our own between the model's text. */
  #remark(line: string, style?: Style): void {
    this.#endToolLine();
    this.#endText();
    const painted = `${style === undefined ? line : this.#paint(line, style)}\n`;
    if (this.#look === "raw") this.#pieces.push({ stream: "stderr", text: painted });
    else this.#addPiece(painted);
  }

  /** Like #remark, but without the line break. */
  #startRemark(line: string): void {
    this.#endToolLine();
    this.#endText();
    this.#addPiece(line);
  }

  #addPiece(text: string): void {
    if (text === "") return;
    this.#isLineOpen = !text.endsWith("\n");
    this.#pieces.push({ stream: "stdout", text });
  }

  #paint(text: string, style: Style): string {
    return this.#look === "styled" ? applyStyle(text, style) : text;
  }
}

function findCall({ calls, scripts }: Activity, { callId, scriptCallId }: Payload<typeof TOOL_FINISHED>): ToolCall | undefined {
  if (scriptCallId === undefined) return calls.get(callId);
  return scripts.get(scriptCallId)?.calls.find((call) => call.callId === callId);
}

/** A person's message as the conversation shows it. */
export function personText(content: unknown, look: OutputMode): string {
  const lines = escapeControls(textIn(content), "\n\t").split("\n");
  const paint = (line: string) => (look === "styled" ? applyStyle(line, "bold") : line);
  return lines.map((line, at) => `${at === 0 ? PROMPT : "  "}${paint(line)}`).join("\n");
}

export const PROMPT = "› ";

/** The part of `whole` after `shown`, whitespace ignored; null if `whole` does not start with `shown`. */
function textAfterShown(whole: string, shown: string): string | null {
  if (whole.startsWith(shown)) return whole.slice(shown.length).trim() === "" ? "" : whole.slice(shown.length);
  let at = 0;
  for (const character of shown.replace(/\s+/g, "")) {
    while (/\s/.test(whole[at] ?? "")) at++;
    if (!whole.startsWith(character, at)) return null;
    at += character.length;
  }
  const rest = whole.slice(at);
  return rest.trim() === "" ? "" : rest;
}

function formatElapsed(ms: number): string {
  return ms < 60_000 ? `${(Math.max(0, ms) / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

function firstLine(text: string): string {
  return escapeControls(text.trim().split("\n")[0]!.slice(0, 200));
}
