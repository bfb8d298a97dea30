// Runs the tool calls of a model: sends each call to the kernel, sends it again after a crash, and stores its result once. The
// history gets a part of a long output; the whole is stored where the model can read it.

import { type Call, type CallEnd, durationOf } from "../rows/calls.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import { EarlyAnswers } from "./early-answers.ts";
import type { HilRequest } from "../../protocol/proc-records.ts";
import { HIL_REQUESTED, TOOL_FINISHED, TOOL_STARTED } from "../../protocol/signal-names.ts";
import { LEASE_MS, PERSON_LEASE_MS, type State } from "../rows/state.ts";
import { maxResultChars, capText } from "../../agent/tool-text.ts";
import { isReadTool, isScriptTool, toSyscall } from "../../agent/tools.ts";
import { ScriptRunner, type ScriptStep } from "./script-runner.ts";
import type { SysCall, SysOutcome } from "../kernel-port.ts";

/** What became of a call that was sent. */
type CallStep = ScriptStep | Extract<SysOutcome, { kind: "asked" }>;

export class ToolRunner {
  readonly #state: State;
  readonly #scheduleWork: () => void;
  readonly #earlyAnswers = new EarlyAnswers<true>();
  readonly #scripts: ScriptRunner;

  /** `scheduleWork` makes the process look for its next step. */
  constructor(state: State, scheduleWork: () => void) {
    this.#state = state;
    this.#scheduleWork = scheduleWork;
    this.#scripts = new ScriptRunner(state);
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
      if (!isRepeat && call.requestId === null) usage.addToolCalls(runId, 1);
    });
    // After a crash a read may be sent as if for the first time, unless a person allowed it: that approval is used up.
    if (!isReadTool(tool) || call.requestId !== null) await ports.sql.waitUntilDurable();
    if (this.#state.isClosed || signal.aborted) return;
    const request = { runId, conversationId, callId, tool, syscall, args, isRepeat };
    // Not awaited: other calls may run in parallel, and the result schedules the next step.
    void this.#run(call, request, signal)
      .then(async (step) => {
        if (step === null) return;
        const kept = step.kind === "ended" ? { ...step.end, output: await this.#capOutput(call, step.end.output) } : null;
        if (this.#state.isClosed) return;
        if (step.kind === "asked") this.#recordQuestion(call, step.request);
        else if (step.kind === "suspended") this.#recordSuspension(call, step.requestId);
        else this.#recordEnd(call, kept!);
        this.#scheduleWork();
      })
      .catch((error: unknown) => ports.log("the result of a call could not be stored", { callId, error: String(error) }));
  }

  /** Runs a call: a script in this process, anything else in the kernel. Null if nobody needs the result any more. */
  async #run(call: Call, request: SysCall, signal: AbortSignal): Promise<CallStep | null> {
    if (isScriptTool(call.tool) && this.#scripts.hasStarted(call)) return this.#scripts.resume(call, signal);
    const outcome = await this.#runSyscall(request, signal);
    if (outcome.kind === "asked") return outcome;
    if (!isScriptTool(call.tool) || outcome.isError) return { kind: "ended", end: outcome };
    // The kernel has allowed the script; it runs here.
    return this.#scripts.start(call, String(request.args.code), signal);
  }

  async #runSyscall(request: SysCall, signal: AbortSignal): Promise<SysOutcome> {
    try {
      return await this.#state.ports.kernel.runSyscall(request, signal, () => this.markStarted(request.callId));
    } catch (error) {
      return { kind: "done", isError: true, output: `Error: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  /** The call has begun to run. Reported once, even if the call is sent repeatedly. */
  markStarted(callId: string): void {
    if (this.#scripts.markStarted(callId)) return;
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
    const { calls, scripts, runs, ports } = this.#state;
    this.#earlyAnswers.add(requestId, true);
    const ofScripts = scripts.listAwaiting(requestId).flatMap(({ scriptCallId }) => calls.get(scriptCallId) ?? []);
    // A script that still runs is continued when it is suspended.
    const waiting = [...calls.listAwaiting(requestId), ...ofScripts].filter(({ state }) => state === "asked");
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

  /** A script waits for nothing but people. Where one has answered already, it is continued at once. */
  #recordSuspension({ callId, runId }: Call, requestId: string): void {
    const { calls, scripts, runs, ports } = this.#state;
    this.#state.change(() => {
      if (calls.get(callId)?.state !== "sent") return;
      calls.markAsked(callId, requestId);
      if (scripts.listCalls(callId).some((row) => this.#earlyAnswers.get(row.requestId))) return calls.markWanted(callId);
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
    const { calls, scripts, runs, ports } = this.#state;
    this.#state.change((tell) => {
      const now = ports.now();
      const run = runs.get(runId);
      if (run === undefined || !calls.markDone(callId, end, now)) return;
      if (isScriptTool(tool)) scripts.remove(callId);
      if (run.pausedAt === null) runs.extendLease(runId, now + LEASE_MS);
      const result = end.isError ? { ok: false, error: end.output } : { ok: true, output: end.output };
      const durationMs = durationOf({ startedAt: calls.get(callId)?.startedAt ?? null, endedAt: now });
      const fields = { ...result, ...(end.outcome && { outcome: end.outcome }), ...(durationMs === undefined ? {} : { durationMs }) };
      tell(TOOL_FINISHED, { name: tool, syscall, callId, runId, conversationId: run.conversationId, ...fields });
    });
  }
}
