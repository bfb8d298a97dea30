// Runs the tool calls of a model: sends each call to the kernel, sends it again after a crash, and stores its result once. The
// history gets a part of a long output; the whole is stored where the model can read it.

import { type Call, type CallEnd, durationOf } from "../rows/calls.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import { EarlyAnswers } from "./early-answers.ts";
import type { HilRequest } from "../../protocol/proc-records.ts";
import { HIL_REQUESTED, TOOL_FINISHED, TOOL_STARTED } from "../../protocol/signal-names.ts";
import { LEASE_MS, PERSON_LEASE_MS, type State } from "../rows/state.ts";
import { maxResultChars, capText } from "../../agent/tool-text.ts";
import { isReadTool, toSyscall } from "../../agent/tools.ts";

export class ToolRunner {
  readonly #state: State;
  readonly #scheduleWork: () => void;
  readonly #earlyAnswers = new EarlyAnswers<true>();

  /** `scheduleWork` makes the process look for its next step. */
  constructor(state: State, scheduleWork: () => void) {
    this.#state = state;
    this.#scheduleWork = scheduleWork;
  }

  async send(callId: string, signal: AbortSignal): Promise<void> {
    const { calls, usage, runs, ports } = this.#state;
    const call = calls.get(callId);
    if (call?.state !== "wanted") return;
    const { runId, tool, isRepeat } = call;
    const translated = toSyscall(tool, call.args);
    if ("error" in translated) return this.#recordEnd(call, { isError: true, output: `Error: ${translated.error}` });
    const { call: syscall, args } = translated;
    const conversationId = runs.get(runId)?.conversationId ?? DEFAULT_CONVERSATION;
    this.#state.change(() => {
      calls.markSent(callId);
      if (!isRepeat && call.requestId === null) usage.addToolCall(runId);
    });
    // After a crash a read may be sent as if for the first time, unless a person allowed it: that approval is used up.
    if (!isReadTool(tool) || call.requestId !== null) await ports.sql.waitUntilDurable();
    if (this.#state.isClosed || signal.aborted) return;
    const request = { runId, conversationId, callId, tool, syscall, args, isRepeat };
    const outcome = ports.kernel
      .runSyscall(request, signal, () => this.markStarted(callId))
      .catch((error: unknown) => ({
        kind: "done" as const,
        isError: true,
        output: `Error: ${error instanceof Error ? error.message : String(error)}`,
      }));
    // Not awaited: other calls may run in parallel, and the result schedules the next step.
    void outcome
      .then(async (end) => {
        const kept = end.kind === "asked" ? end : { ...end, output: await this.#capOutput(call, end.output) };
        if (this.#state.isClosed) return;
        if (kept.kind === "asked") this.#recordQuestion(call, kept.request);
        else this.#recordEnd(call, kept);
        this.#scheduleWork();
      })
      .catch((error: unknown) => ports.log("the result of a call could not be stored", { callId, error: String(error) }));
  }

  /** The call has begun to run. Reported once, even if the call is sent repeatedly. */
  markStarted(callId: string): void {
    const { calls, runs, ports } = this.#state;
    const call = calls.get(callId);
    if (this.#state.isClosed || call === undefined || call.startedAt !== null) return;
    const { runId, tool } = call;
    const translated = toSyscall(tool, call.args);
    const conversationId = runs.get(runId)?.conversationId ?? DEFAULT_CONVERSATION;
    if ("error" in translated) return;
    this.#state.change((tell) => {
      if (!calls.markStarted(callId, ports.now())) return;
      tell(TOOL_STARTED, { name: tool, syscall: translated.call, args: translated.args, callId, runId, conversationId });
    });
  }

  /** A person has answered. */
  handleDecision(requestId: string): void {
    const { calls, runs, ports } = this.#state;
    this.#earlyAnswers.add(requestId, true);
    const waiting = calls.listAwaiting(requestId);
    if (waiting.length === 0) return;
    this.#state.change(() => {
      for (const { callId, runId } of waiting) {
        calls.markWanted(callId);
        runs.resume(runId, ports.now() + LEASE_MS, ports.now());
      }
    });
    this.#scheduleWork();
  }

  #recordQuestion({ callId, runId }: Call, request: HilRequest): void {
    const { calls, runs, ports } = this.#state;
    this.#state.change((tell) => {
      // A call that ended meanwhile needs no answer any more.
      if (calls.get(callId)?.state !== "sent") return;
      calls.markAsked(callId, request.requestId);
      if (this.#earlyAnswers.get(request.requestId)) return calls.markWanted(callId);
      tell(HIL_REQUESTED, request);
      runs.pause(runId, ports.now() + PERSON_LEASE_MS, ports.now());
    });
  }

  /** The part of an output that may enter the history; the whole is stored elsewhere. */
  async #capOutput({ callId, runId, messageId }: Call, output: string): Promise<string> {
    const { calls, ports } = this.#state;
    const others = calls.listForMessage(runId, messageId);
    const used = others.reduce((chars, other) => chars + (other.state === "done" ? other.output.length : 0), 0);
    const chars = maxResultChars(used, others.filter(({ state }) => state !== "done").length);
    if (output.length <= chars) return output;
    const path = await ports.kernel.storeOutput(callId, output).catch(() => null);
    return capText(output, chars, path).text;
  }

  /** A late result of a run that has ended changes nothing. */
  #recordEnd({ callId, runId, tool, syscall }: Call, end: CallEnd): void {
    const { calls, runs, ports } = this.#state;
    this.#state.change((tell) => {
      const now = ports.now();
      const run = runs.get(runId);
      if (run === undefined || !calls.markDone(callId, end, now)) return;
      if (run.pausedAt === null) runs.extendLease(runId, now + LEASE_MS);
      const result = end.isError ? { ok: false, error: end.output } : { ok: true, output: end.output };
      const durationMs = durationOf({ startedAt: calls.get(callId)?.startedAt ?? null, endedAt: now });
      const fields = { ...result, ...(end.outcome && { outcome: end.outcome }), ...(durationMs === undefined ? {} : { durationMs }) };
      tell(TOOL_FINISHED, { name: tool, syscall, callId, runId, conversationId: run.conversationId, ...fields });
    });
  }
}
