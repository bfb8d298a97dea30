// A run as it is seen in a terminal: signals in, pieces of text out. What a model says is shown while it says it, and once: what
// the stream missed is made up for by the whole text that follows it, and an answer that begins anew, because the gateway was
// started again in the middle of it, goes on where the screen stopped. In a pipe only whole texts go to stdout, and what is
// remarked about the run to stderr. It opens nothing, waits for nothing and knows the time only from whoever calls.

import { type Activity, type ActivityEvent, answerText, IDLE, reduce, resume } from "../../client/activity.ts";
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
import { type Look, type Style, styled } from "../terminal/text-style.ts";
import { Markdown } from "../terminal/markdown.ts";
import { textIn } from "./message-text.ts";
import { printable } from "../terminal/terminal.ts";
import { failureIn, nextStep, resultText, toolLine } from "./tool-call.ts";

export type Piece = { stream: "stdout" | "stderr"; text: string };

export type ViewOptions = {
  /** Results of tools and thoughts are shown too. */
  isVerbose?: boolean;
  /** What people said is shown, for a conversation that may have several of them. */
  showsPeople?: boolean;
};

export class ChatView {
  readonly #look: Look;
  readonly #showsPeople: boolean;
  isVerbose: boolean;
  #pieces: Piece[] = [];
  #isLineOpen = false;
  #markdown: Markdown | null = null;
  #activity = IDLE;
  /** What is on the screen of the answer that is arriving, or of the try before it. */
  #shown = "";
  /** Said last in whole, so that the end of a run does not say it again. */
  #lastText = "";
  #lastRun = "";
  #saidBefore = "";
  /** How the run before ended, while nothing else has happened: of runs that were answered together it is said once. */
  #lastEnd = "";
  /** The tool whose line has no end yet. */
  #openTool: string | null = null;
  #thinkingSince: number | null = null;
  #thoughts = "";
  /** Of the last tool or thought, for whoever wants to see more of it. */
  #details = "";

  constructor(look: Look, { isVerbose = false, showsPeople = false }: ViewOptions = {}) {
    this.#look = look;
    this.isVerbose = isVerbose;
    this.#showsPeople = showsPeople;
  }

  view(event: ActivityEvent, now: number): Piece[] {
    const before = this.#activity;
    this.#activity = reduce(before, event);
    this.#take(event, before, now);
    return this.#taken();
  }

  /** One has begun to follow, or is back: as much of the answer as has arrived, or that none is arriving. */
  live(live: LiveAnswer | null): Piece[] {
    this.#activity = resume(this.#activity, live);
    const { answer } = this.#activity;
    if (answer !== null && this.#look !== "raw") {
      const whole = answerText(answer);
      const isSaid = answer.runId === this.#lastRun && restOf(this.#lastText, whole) === "" && restOf(whole, this.#lastText) === "";
      if (isSaid) this.#shown = whole;
      else this.#showAnswer();
    }
    return this.#taken();
  }

  /** A line of whoever shows this. */
  remark(line: string, style?: Style): Piece[] {
    this.#remark(line, style);
    return this.#taken();
  }

  /** More of the last tool call or thought. */
  details(): Piece[] {
    return this.remark(this.#details === "" ? "nothing to show yet" : this.#details, "dim");
  }

  /** This was said last before one looked, and is on the screen already; it may be told once more. */
  wasSaid(whole: string): void {
    this.#lastText = whole;
    this.#saidBefore = whole;
  }

  #taken(): Piece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #take({ signal, payload }: ActivityEvent, before: Activity, now: number): void {
    if (signal !== PROC_CHANGED && signal !== RUN_FINISHED && signal !== CHAT_COMPLETE) this.#lastEnd = "";
    switch (signal) {
      case RUN_STARTED:
        // Something else was said before the answer that was cut off could begin anew.
        if (this.#shown !== "") this.#remark("the answer was cut off", "dim");
        this.#endCall();
        this.#lastText = "";
        this.#saidBefore = "";
        return;
      case PROC_CHANGED:
        return this.#changed(payload);
      case RUN_STREAM:
        // Old pieces change nothing.
        if (this.#activity.answer !== before.answer && this.#look !== "raw") this.#stream(payload, now);
        return;
      case RUN_OUTPUT:
        this.#lastRun = payload.runId;
        return this.#output(payload.text);
      case TOOL_STARTED:
        return this.#toolStarted(payload);
      case TOOL_FINISHED:
        return this.#toolFinished(payload, before);
      case RUN_RETRYING:
        return this.#retrying(payload);
      case RUN_FINISHED:
        return this.#finished(payload);
      default:
    }
  }

  #stream({ event }: AnswerPiece, now: number): void {
    if (event.type === "thinking_start") this.#think(now);
    else if (event.type === "thinking_delta") this.#thought(event.delta);
    else if (event.type === "thinking_end" || event.type === "text_delta") this.#endThinking(now);
    this.#showAnswer();
  }

  /** What of the answer is not on the screen yet. */
  #showAnswer(): void {
    const { answer } = this.#activity;
    const whole = answer === null ? "" : answerText(answer);
    // Begun anew, it goes on where the screen stopped.
    if (this.#shown.startsWith(whole)) return;
    let rest = whole.slice(this.#shown.length);
    if (!whole.startsWith(this.#shown)) {
      this.#remark("the answer was cut off; it begins anew", "dim");
      rest = whole;
    }
    this.#say(rest);
    this.#shown = whole;
  }

  #think(now: number): void {
    if (this.#thinkingSince !== null) return;
    this.#remarkOpen(`${this.#paint("•", "dim")} ${this.#paint("thinking", "dim")}`);
    if (this.isVerbose) this.#put("\n");
    this.#thinkingSince = now;
    this.#thoughts = "";
  }

  #thought(delta: string): void {
    this.#thoughts += delta;
    if (this.isVerbose && this.#thinkingSince !== null) this.#put(this.#paint(printable(delta, "\n\t"), "dim"));
  }

  #endThinking(now: number): void {
    if (this.#thinkingSince === null) return;
    const took = this.#paint(`  ${duration(now - this.#thinkingSince)}`, "dim");
    this.#thinkingSince = null;
    this.#details = printable(this.#thoughts, "\n\t");
    this.#put(this.isVerbose ? "\n" : `${took}\n`);
  }

  #changed({ changes, event, archivedMessages = 0, role, content }: Payload<typeof PROC_CHANGED>): void {
    if (event === "conversation.compacted" && this.#look !== "raw")
      return this.#remark(`${archivedMessages} earlier messages were put into the archive, and a summary in their place`, "dim");
    if (!this.#showsPeople || !changes.includes("messages") || role !== "user") return;
    this.#endCall();
    this.#put(`\n${personText(content, this.#look)}\n\n`);
  }

  #output(whole: string): void {
    if (whole.trim() !== this.#saidBefore.trim() || this.#shown !== "") this.#sayRest(whole);
    this.#saidBefore = "";
    this.#endCall();
  }

  /** What of a whole text was not shown yet; all of it where something else was shown. */
  #sayRest(whole: string): void {
    if (whole.trim() === "") return;
    const rest = restOf(whole, this.#shown);
    if (rest === null) this.#endText();
    this.#say(rest ?? whole);
    this.#lastText = whole;
  }

  #toolStarted(call: Payload<typeof TOOL_STARTED>): void {
    this.#endCall();
    if (this.#look === "raw") return;
    this.#remarkOpen(`${this.#paint("•", "dim")} ${toolLine(call)}`);
    this.#openTool = call.callId;
  }

  #toolFinished({ callId, name }: Payload<typeof TOOL_FINISHED>, before: Activity): void {
    const started = before.calls.get(callId);
    const line = started === undefined ? printable(name) : toolLine(started);
    const { ok, outcome, text, durationMs } = this.#activity.calls.get(callId)!.end!;
    const failure = outcome === null ? this.#paint(failureIn(text), "red") : this.#paint(outcome, "yellow");
    const how = ok ? this.#paint("ok", "green") : failure;
    // What was not allowed took no time.
    const end = `  ${how}${outcome === "denied" ? "" : ` ${this.#paint(duration(durationMs), "dim")}`}`;
    const result = resultText(text);
    this.#details = `${line}\n${result}`;
    if (this.#openTool === callId) {
      this.#openTool = null;
      this.#put(`${end}\n`);
    } else this.#remark(`${this.#paint("•", "dim")} ${line}${end}`);
    if (this.isVerbose && result !== "") this.#remark(result, "dim");
  }

  #retrying({ waitMs, why }: Payload<typeof RUN_RETRYING>): void {
    const hasShown = this.#shown.trim() !== "";
    this.#endCall();
    const wait = waitMs < 1_000 ? "now" : `in ${duration(waitMs)}`;
    const reason = why === "" ? "" : ` (${firstLine(why)})`;
    this.#remark(`the model call failed${reason}; trying again ${wait}${hasShown ? "; what it has said so far is void" : ""}`, "yellow");
  }

  #finished({ text, status, aborted, error = "", reason }: Payload<typeof RUN_FINISHED>): void {
    const whole = text ?? "";
    if (restOf(whole, this.#lastText) !== "") this.#sayRest(whole);
    this.#endCall();
    const end = `${status} ${error}`;
    if (this.#lastEnd === end) return;
    this.#lastEnd = end;
    if (status === "aborted" || aborted === true) this.#remark("stopped", "dim");
    else if (status === "error") {
      this.#remark(`error: ${printable(error || reason, "\n")}`, "red");
      const next = nextStep(reason);
      if (next !== "") this.#remark(next, "dim");
    }
  }

  /** Text of the model. */
  #say(delta: string): void {
    if (delta === "") return;
    if (this.#markdown === null) {
      this.#endTool();
      this.#markdown = new Markdown(this.#look);
    }
    this.#put(this.#markdown.push(delta));
  }

  #endText(): void {
    const rest = this.#markdown?.end() ?? "";
    this.#markdown = null;
    this.#put(rest);
    if (this.#isLineOpen) this.#put("\n");
  }

  #endTool(): void {
    if (this.#openTool === null) return;
    this.#openTool = null;
    this.#put("\n");
  }

  #endCall(): void {
    if (this.#thinkingSince !== null) this.#put("\n");
    this.#thinkingSince = null;
    this.#endTool();
    this.#endText();
    this.#shown = "";
  }

  /** A line of our own between what the model says. */
  #remark(line: string, style?: Style): void {
    this.#endTool();
    this.#endText();
    const painted = `${style === undefined ? line : this.#paint(line, style)}\n`;
    if (this.#look === "raw") this.#pieces.push({ stream: "stderr", text: painted });
    else this.#put(painted);
  }

  /** The same, whose end comes later. */
  #remarkOpen(line: string): void {
    this.#endTool();
    this.#endText();
    this.#put(line);
  }

  #put(text: string): void {
    if (text === "") return;
    this.#isLineOpen = !text.endsWith("\n");
    this.#pieces.push({ stream: "stdout", text });
  }

  #paint(text: string, style: Style): string {
    return this.#look === "styled" ? styled(text, style) : text;
  }
}

/** What a person said, as it stands in a conversation. */
export function personText(content: unknown, look: Look): string {
  const lines = printable(textIn(content), "\n\t").split("\n");
  const paint = (line: string) => (look === "styled" ? styled(line, "bold") : line);
  return lines.map((line, at) => `${at === 0 ? PROMPT : "  "}${paint(line)}`).join("\n");
}

export const PROMPT = "› ";

/** What follows in a text after what was shown of it, whatever space lies between its blocks; null where it is another text. */
function restOf(whole: string, shown: string): string | null {
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

function duration(ms: number): string {
  return ms < 60_000 ? `${(Math.max(0, ms) / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

function firstLine(text: string): string {
  return printable(text.trim().split("\n")[0]!.slice(0, 200));
}
