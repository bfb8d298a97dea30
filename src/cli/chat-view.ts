// A run as it is seen in a terminal: signals in, pieces of text out. What a model says is shown while it says it, and once: what
// the stream missed is made up for by the whole text that follows it. In a pipe only whole texts go to stdout, and what is remarked
// about the run to stderr. It opens nothing, waits for nothing and knows the time only from whoever calls.

import { type Look, type Style, styled } from "./look.ts";
import { Markdown } from "./markdown.ts";
import { printable } from "./terminal.ts";
import { approvalText, toolLine } from "./tool-call.ts";

export type Piece = { stream: "stdout" | "stderr"; text: string };

type Data = Record<string, unknown>;

export class ChatView {
  readonly #look: Look;
  #pieces: Piece[] = [];
  #isLineOpen = false;
  #markdown: Markdown | null = null;
  /** Of the model call under way: how far its stream was followed, what of it was shown, whether something was missed. */
  #call = newCall();
  /** Said last in whole, so that the end of a run does not say it again. */
  #lastText = "";
  readonly #tools = new Map<string, { line: string; startedAt: number }>();
  /** The tool whose line has no end yet. */
  #openTool: string | null = null;
  readonly #asked = new Set<string>();

  constructor(look: Look) {
    this.#look = look;
  }

  view(signal: string, payload: unknown, now: number): Piece[] {
    this.#take(signal, isData(payload) ? payload : {}, now);
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #take(signal: string, payload: Data, now: number): void {
    switch (signal) {
      case "proc.run.started":
        this.#endCall();
        this.#lastText = "";
        return;
      case "proc.run.stream":
        return this.#stream(number(payload.seq), isData(payload.event) ? payload.event : {});
      case "proc.run.output":
        return this.#output(text(payload.text));
      case "proc.run.tool.started":
        return this.#toolStarted(payload, now);
      case "proc.run.tool.finished":
        return this.#toolFinished(payload, now);
      case "proc.run.hil.requested":
        return this.#asks(payload);
      case "proc.run.retrying":
        return this.#retrying(payload);
      case "proc.run.finished":
        return this.#finished(payload);
    }
  }

  #stream(seq: number, event: Data): void {
    // The first piece begins another call, unless it comes again after some of this one was shown.
    if (seq === 1 && this.#call.shown === "") this.#call = newCall();
    const call = this.#call;
    if (this.#look === "raw" || seq <= call.seq) return;
    // A piece that did not come leaves a hole that only the whole text can fill.
    if (seq !== call.seq + 1) call.hasGap = true;
    call.seq = seq;
    if (event.type === "thinking_start" && !call.isThinking) {
      call.isThinking = true;
      this.#remark("thinking ...", "dim");
    }
    if (event.type === "text_start" && call.shown !== "" && !call.hasGap) this.#say("\n\n");
    if (event.type === "text_delta" && !call.hasGap) {
      call.shown += text(event.delta);
      this.#say(text(event.delta));
    }
  }

  #output(whole: string): void {
    this.#sayRest(whole);
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
    if (this.#tools.has(callId)) return;
    const line = toolLine({ name: text(payload.name), syscall: text(payload.syscall), args: isData(payload.args) ? payload.args : {} });
    this.#tools.set(callId, { line, startedAt: now });
    if (this.#look === "raw") return;
    this.#put(`${this.#paint("•", "dim")} ${line}`);
    this.#openTool = callId;
  }

  #toolFinished(payload: Data, now: number): void {
    const callId = text(payload.callId);
    const { line, startedAt } = this.#tools.get(callId) ?? { line: printable(text(payload.name)), startedAt: now };
    this.#tools.delete(callId);
    const end = `  ${this.#toolEnd(payload)} ${this.#paint(duration(now - startedAt), "dim")}`;
    if (this.#openTool === callId) {
      this.#openTool = null;
      this.#put(`${end}\n`);
      return;
    }
    this.#remark(`${this.#paint("•", "dim")} ${line}${end}`);
  }

  #toolEnd({ ok, output, error }: Data): string {
    const { exitCode, status, ok: isDone, error: reason } = isData(output) ? output : {};
    if (ok === false || isDone === false) return this.#paint(`failed: ${firstLine(text(error) || text(reason))}`, "red");
    if (status === "running") return this.#paint("still running", "yellow");
    if (status !== "failed") return this.#paint("ok", "green");
    return this.#paint(typeof exitCode === "number" ? `exit ${exitCode}` : `failed: ${firstLine(text(reason))}`, "yellow");
  }

  #asks(payload: Data): void {
    const requestId = text(payload.requestId);
    if (this.#asked.has(requestId)) return;
    this.#asked.add(requestId);
    this.#endCall();
    const args = isData(payload.args) ? payload.args : {};
    this.#remark(approvalText({ name: text(payload.toolName), syscall: text(payload.syscall), args }, this.#look));
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
    if (payload.status === "aborted" || payload.aborted === true) this.#remark("stopped", "dim");
    else if (payload.status === "error") this.#remark(`error: ${printable(text(payload.error) || text(payload.reason), "\n")}`, "red");
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

  #put(text: string): void {
    if (text === "") return;
    this.#isLineOpen = !text.endsWith("\n");
    this.#pieces.push({ stream: "stdout", text });
  }

  #paint(text: string, style: Style): string {
    return this.#look === "styled" ? styled(text, style) : text;
  }
}

type Call = { seq: number; shown: string; hasGap: boolean; isThinking: boolean };

function newCall(): Call {
  return { seq: 0, shown: "", hasGap: false, isThinking: false };
}

/** What follows in a text after what was shown of it, whatever space lies between its blocks; null where it is another text. */
function restOf(whole: string, shown: string): string | null {
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
