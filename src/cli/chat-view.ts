// A run as it is seen in a terminal: signals in, pieces of text out. What a model says is shown while it says it, and once: what
// the stream missed is made up for by the whole text that follows it, and an answer that begins anew, because the gateway was
// started again in the middle of it, goes on where the screen stopped. In a pipe only whole texts go to stdout, and what is
// remarked about the run to stderr. It opens nothing, waits for nothing and knows the time only from whoever calls.

import type { LiveAnswer } from "../client/follow.ts";
import { type Look, type Style, styled } from "./look.ts";
import { Markdown } from "./markdown.ts";
import { printable } from "./terminal.ts";
import { failureIn, nextStep, resultText, toolLine } from "./tool-call.ts";

export type Piece = { stream: "stdout" | "stderr"; text: string };

type Data = Record<string, unknown>;

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
  /** Of the model call under way: how far its stream was followed, what of it was shown, whether something was missed. */
  #call = newCall();
  /** Said last in whole, so that the end of a run does not say it again. */
  #lastText = "";
  #lastRun = "";
  /** The last answer that was told whole, and the last run that ended: pieces of them that come late are old. */
  #doneCall = "";
  #endedRun = "";
  #saidBefore = "";
  /** How the run before ended, while nothing else has happened: of runs that were answered together it is said once. */
  #lastEnd = "";
  readonly #tools = new Map<string, { line: string; startedAt: number }>();
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

  view(signal: string, payload: unknown, now: number): Piece[] {
    this.#take(signal, isData(payload) ? payload : {}, now);
    return this.#taken();
  }

  /** One has begun to follow, or is back: as much of the answer as has come, or that none is coming. */
  live(answer: LiveAnswer | null): Piece[] {
    const { shown } = this.#call;
    this.#call = { ...newCall(), shown };
    if (answer !== null && this.#look !== "raw") {
      this.#call.of = callOf(answer);
      this.#call.seq = answer.seq;
      const whole = answer.blocks.flatMap((block) => (block.type === "text" ? [text(block.text)] : [])).join("\n\n");
      // Complete, and told of as such a moment ago: nothing more of it is to be shown.
      if (this.#isOld(this.#call.of)) this.#call.hasGap = true;
      else if (answer.runId === this.#lastRun && restOf(this.#lastText, whole) === "" && restOf(whole, this.#lastText) === "")
        this.#call.hasGap = true;
      else this.#hear(whole);
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

  #take(signal: string, payload: Data, now: number): void {
    if (signal.startsWith("proc.run.") && signal !== "proc.run.finished") this.#lastEnd = "";
    switch (signal) {
      case "proc.run.started":
        // Something else was said before the answer that was cut off could begin anew.
        if (this.#call.shown !== "") this.#remark("the answer was cut off", "dim");
        this.#endCall();
        this.#lastText = "";
        this.#saidBefore = "";
        return;
      case "proc.changed":
        return this.#changed(payload);
      case "proc.run.stream":
        return this.#stream(callOf(payload), payload, isData(payload.event) ? payload.event : {}, now);
      case "proc.run.output":
        this.#lastRun = text(payload.runId);
        return this.#output(text(payload.text));
      case "proc.run.tool.started":
        return this.#toolStarted(payload, now);
      case "proc.run.tool.finished":
        return this.#toolFinished(payload, now);
      case "proc.run.retrying":
        return this.#retrying(payload);
      case "proc.run.finished":
        return this.#finished(payload);
    }
  }

  #stream(of: string, piece: Data, event: Data, now: number): void {
    if (this.#look === "raw" || this.#isOld(of)) return;
    const seq = number(piece.seq);
    // Several pieces may come as one.
    const first = piece.firstSeq === undefined ? seq : number(piece.firstSeq);
    const { shown, seq: last, of: before } = this.#call;
    // The first piece begins another answer, or the same one anew where some of it was shown and its end never came.
    if (of !== before || (first === 1 && (last > 1 || shown === ""))) this.#call = { ...newCall(), of, shown };
    const call = this.#call;
    if (seq <= call.seq) return;
    // A piece that did not come leaves a hole that only the whole text can fill.
    if (first !== call.seq + 1) call.hasGap = true;
    call.seq = seq;
    if (event.type === "thinking_start") this.#think(now);
    else if (event.type === "thinking_delta") this.#thought(text(event.delta));
    else if (event.type === "thinking_end") this.#endThinking(now);
    else if (event.type === "text_start" && call.heard !== "") this.#hear("\n\n");
    else if (event.type === "text_delta") {
      this.#endThinking(now);
      this.#hear(text(event.delta));
    }
  }

  /** More of the answer. As long as it is what is on the screen already, nothing is shown. */
  #hear(delta: string): void {
    const call = this.#call;
    if (call.hasGap) return;
    call.heard += delta;
    if (call.shown.startsWith(call.heard)) return;
    let rest = call.heard.slice(call.shown.length);
    if (!call.heard.startsWith(call.shown)) {
      this.#remark("the answer was cut off; it begins anew", "dim");
      rest = call.heard;
    }
    this.#say(rest);
    call.shown = call.heard;
  }

  #isOld(of: string): boolean {
    return (of !== "" && of === this.#doneCall) || (this.#endedRun !== "" && of.startsWith(`${this.#endedRun} `));
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

  #changed(payload: Data): void {
    const changes: unknown[] = Array.isArray(payload.changes) ? payload.changes : [];
    if (payload.event === "conversation.compacted" && this.#look !== "raw")
      return this.#remark(
        `${number(payload.archivedMessages)} earlier messages were put into the archive, and a summary in their place`,
        "dim",
      );
    if (!this.#showsPeople || !changes.includes("messages") || payload.role !== "user") return;
    this.#endCall();
    this.#put(`\n${personText(payload.content, this.#look)}\n\n`);
  }

  #output(whole: string): void {
    if (whole.trim() !== this.#saidBefore.trim() || this.#call.shown !== "") this.#sayRest(whole);
    this.#saidBefore = "";
    if (this.#call.of.startsWith(`${this.#lastRun} `)) this.#doneCall = this.#call.of;
    this.#endCall();
  }

  /** What of a whole text was not shown yet; all of it where something else was shown. */
  #sayRest(whole: string): void {
    if (whole.trim() === "") return;
    const rest = restOf(whole, this.#call.shown);
    if (rest === null) this.#endText();
    this.#say(rest ?? whole);
    this.#lastText = whole;
  }

  #toolStarted(payload: Data, now: number): void {
    this.#endCall();
    const callId = text(payload.callId);
    const line = toolLine({ name: text(payload.name), syscall: text(payload.syscall), args: isData(payload.args) ? payload.args : {} });
    this.#tools.set(callId, { line, startedAt: now });
    if (this.#look === "raw") return;
    this.#remarkOpen(`${this.#paint("•", "dim")} ${line}`);
    this.#openTool = callId;
  }

  #toolFinished(payload: Data, now: number): void {
    const callId = text(payload.callId);
    const { line, startedAt } = this.#tools.get(callId) ?? { line: printable(text(payload.name)), startedAt: now };
    this.#tools.delete(callId);
    const isFailed = payload.ok === false;
    const outcome = text(payload.outcome);
    const failure = outcome === "" ? this.#paint(failureIn(text(payload.error)), "red") : this.#paint(outcome, "yellow");
    const how = isFailed ? failure : this.#paint("ok", "green");
    const tookMs = typeof payload.durationMs === "number" ? payload.durationMs : now - startedAt;
    // What was not allowed took no time.
    const end = `  ${how}${outcome === "denied" ? "" : ` ${this.#paint(duration(tookMs), "dim")}`}`;
    const result = resultText(text(isFailed ? payload.error : payload.output));
    this.#details = `${line}\n${result}`;
    if (this.#openTool === callId) {
      this.#openTool = null;
      this.#put(`${end}\n`);
    } else this.#remark(`${this.#paint("•", "dim")} ${line}${end}`);
    if (this.isVerbose && result !== "") this.#remark(result, "dim");
  }

  #retrying({ waitMs, why }: Data): void {
    const hasShown = this.#call.shown.trim() !== "";
    this.#endCall();
    const wait = number(waitMs) < 1_000 ? "now" : `in ${duration(number(waitMs))}`;
    const reason = text(why) === "" ? "" : ` (${firstLine(text(why))})`;
    this.#remark(`the model call failed${reason}; trying again ${wait}${hasShown ? "; what it has said so far is void" : ""}`, "yellow");
  }

  #finished(payload: Data): void {
    const whole = text(payload.text);
    if (restOf(whole, this.#lastText) !== "") this.#sayRest(whole);
    this.#endCall();
    this.#tools.clear();
    this.#endedRun = text(payload.runId);
    const end = `${text(payload.status)} ${text(payload.error)}`;
    if (this.#lastEnd === end) return;
    this.#lastEnd = end;
    if (payload.status === "aborted" || payload.aborted === true) this.#remark("stopped", "dim");
    else if (payload.status === "error") {
      this.#remark(`error: ${printable(text(payload.error) || text(payload.reason), "\n")}`, "red");
      const next = nextStep(text(payload.reason));
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
    this.#call = newCall();
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

/** `heard` is what has come of this answer, `shown` what of it, or of the try before, is on the screen. */
type Call = { of: string; seq: number; heard: string; shown: string; hasGap: boolean };

function newCall(): Call {
  return { of: "", seq: 0, heard: "", shown: "", hasGap: false };
}

function callOf({ runId, modelCall }: { runId?: unknown; modelCall?: unknown }): string {
  return `${text(runId)} ${number(modelCall)}`;
}

/** What a person said, as it stands in a conversation. */
export function personText(content: unknown, look: Look): string {
  const said = text(content) || (isData(content) ? text(content.text) : "");
  const lines = printable(said, "\n\t").split("\n");
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

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
