// Runs the scripts of a model (the tool CodeMode) in the process's sandbox. Every call of a script goes to the kernel like a call of the
// model: it has an id of its own, is judged, and is reported to followers, but does not become a message. While a script waits for
// nothing but people, its snapshot is a row and its engine is gone; after the answer it continues, also in a later instance of the
// process.

import { shortenArgs } from "../../lib/shorten-args.ts";
import { withTimeout } from "../../lib/with-timeout.ts";
import {
  INTERRUPTED,
  type NumberedAnswer,
  type ScriptAnswer,
  type ScriptCall,
  type ScriptEnd,
  type ScriptStart,
} from "../../ports/sandbox.ts";
import { HIL_REQUESTED, TOOL_FINISHED, TOOL_STARTED } from "../../protocol/signal-names.ts";
import { renderToolOutcome } from "../../agent/tool-text.ts";
import { CALL_MS } from "../../sandbox/limits.ts";
import { makeScriptCallId, TOOL_OF_SCRIPT_CALL } from "../../sandbox/script-calls.ts";
import { toScriptResult } from "../../sandbox/calls/result.ts";
import { type QuestionsAbout, STOPPED, type SysOutcome } from "../kernel-port.ts";
import type { ScriptCallList } from "../../protocol/proc-records.ts";
import type { Call, CallEnd } from "../rows/calls.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import type { ScriptCallRow } from "../rows/scripts.ts";
import type { State } from "../rows/state.ts";
import { describeTimeout } from "../script-timeout.ts";
import { ScriptRecord } from "./script-record.ts";
import { ScriptReports } from "./script-reports.ts";

/** The script has ended, or `requestId` is one of the questions that it waits for. */
export type ScriptStep = { kind: "ended"; end: CallEnd } | { kind: "suspended"; requestId: string };

/** How much of each argument of a call followers are shown: a script may write a million characters at a time. */
const SHOWN_CHARS = 2_000;

/** A call that a script makes. */
type NestedCall = Pick<ScriptCallRow, "callId" | "number" | "syscall" | "args"> & {
  startedAt: number | null;
  /** Only of one about which a person was asked: those are stored. */
  requestId?: string;
};

export class ScriptRunner {
  readonly #state: State;
  readonly #reports: ScriptReports;
  /** Calls of scripts that run in this instance, by id. */
  readonly #nested = new Map<string, { script: Call; nested: NestedCall }>();
  /** Of scripts whose results are not in the history yet. */
  readonly #records = new Map<string, ScriptRecord>();

  constructor(state: State) {
    this.#state = state;
    this.#reports = new ScriptReports(state);
    state.takeScriptCalls = (callId) => this.#takeCalls(callId);
  }

  /** Runs a script to its end or until it is suspended. Null if the run was stopped or the process closed meanwhile. */
  async start(call: Call, code: string, signal: AbortSignal): Promise<ScriptStep | null> {
    const mcpTools = await this.#state.ports.kernel.listScriptFunctions();
    if (this.#state.isClosed || signal.aborted) return null;
    this.#records.set(call.callId, new ScriptRecord());
    return this.#run(call, { kind: "source", code, globals: { argv: [], args: null, mcpTools } }, [], signal);
  }

  /** Whether an earlier instance of the process has started this script, or this one has suspended it. */
  hasStarted({ callId }: Call): boolean {
    return this.#state.scripts.get(callId) !== undefined;
  }

  /** Continues a suspended script: sends the calls again about which a person was asked. */
  async resume(call: Call, signal: AbortSignal): Promise<ScriptStep | null> {
    const { scripts, ports } = this.#state;
    const script = scripts.get(call.callId);
    if (script?.engine !== ports.sandbox.engine) return this.#interrupt(call);
    const outcomes = await Promise.all(scripts.listCalls(call.callId).map((row) => this.#sendAgain(call, row, signal)));
    if (this.#state.isClosed || signal.aborted) return null;
    const answers = outcomes.flatMap((one) => ("answer" in one ? one : []));
    const waiting = outcomes.flatMap((one) => ("requestId" in one ? one.requestId : []));
    const answered = answers.map(({ callId }) => callId);
    if (answers.length === 0 && waiting[0] !== undefined) return { kind: "suspended", requestId: waiting[0] };
    const snapshot = scripts.readSnapshot(call.callId);
    const { used } = script;
    return this.#run(call, { kind: "snapshot", snapshot, used, answers, suspended: waiting.length }, answered, signal);
  }

  /** Calls that still run end with the script. */
  #takeCalls(scriptCallId: string): ScriptCallList | undefined {
    const record = this.#recordOf(scriptCallId);
    for (const { script, nested } of this.#nested.values())
      if (script.callId === scriptCallId && nested.startedAt !== null && !record.has(nested.callId))
        record.add({ ...this.#describe(script, nested), args: nested.args, ok: false, outcome: "stopped" });
    this.#records.delete(scriptCallId);
    return record.list;
  }

  #recordOf(scriptCallId: string): ScriptRecord {
    const known = this.#records.get(scriptCallId) ?? ScriptRecord.fromEvents(this.#state.events.listOfScript(scriptCallId));
    this.#records.set(scriptCallId, known);
    return known;
  }

  /** Whether the call belongs to a script; if so, reports that it has started. */
  markStarted(callId: string): boolean {
    const running = this.#nested.get(callId);
    if (running === undefined) return false;
    this.#reportStart(running.script, running.nested);
    return true;
  }

  /** `answered` are the calls whose answers a continued script starts with. */
  async #run(call: Call, start: ScriptStart, answered: readonly string[], signal: AbortSignal): Promise<ScriptStep | null> {
    const { scripts, ports } = this.#state;
    const { callId, runId } = call;
    this.#state.change(() => scripts.markRunning(callId, runId, answered));
    // From here on the script cannot be repeated: after a crash it must be known that it has run.
    await ports.sql.waitUntilDurable();
    if (this.#state.isClosed || signal.aborted) return null;
    const over = new AbortController();
    const stop = () => over.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const asked: string[] = [];
    const link = async (nested: ScriptCall): Promise<ScriptAnswer> => {
      const answer = await this.#answerSafely(call, nested, over.signal);
      if ("requestId" in answer) asked.push(answer.requestId);
      return "requestId" in answer ? { kind: "suspended" } : answer;
    };
    const end = await ports.sandbox.run(start, link, over.signal);
    signal.removeEventListener("abort", stop);
    // Calls that the script did not wait for end with it, wherever they run.
    over.abort(STOPPED);
    if (this.#state.isClosed || signal.aborted) return null;
    this.#reports.flush();
    return end.kind === "suspended" ? this.#suspend(call, end, asked[0]!) : this.#end(call, end);
  }

  #suspend(call: Call, { snapshot, used }: Extract<ScriptEnd, { kind: "suspended" }>, requestId: string): ScriptStep {
    const { scripts, ports } = this.#state;
    const { callId, runId } = call;
    const open = scripts.listCalls(callId).at(0)?.requestId ?? requestId;
    this.#state.change(() => scripts.suspend({ callId, runId, engine: ports.sandbox.engine, used }, snapshot));
    return { kind: "suspended", requestId: open };
  }

  /** A script that was running when the process was lost, or whose snapshot cannot be restored. */
  #interrupt(call: Call): ScriptStep {
    const step = this.#end(call, {
      kind: "failed",
      error: INTERRUPTED,
      stack: "",
      logs: [
        "[error] The gateway stopped while the script was running. Calls that it had made may have run: check before you run it again.",
      ],
    });
    // Also those that were asked before their rows were stored.
    const { scripts } = this.#state;
    const others = scripts.list().flatMap(({ callId }) => scripts.listCalls(callId).map((row) => row.callId));
    this.#withdrawQuestions(call, { scriptsExcept: [...others, ...this.#nested.keys()] });
    return step;
  }

  /** Nobody waits for the open calls and questions of a script that has ended. */
  #end(call: Call, end: Exclude<ScriptEnd, { kind: "suspended" }>): ScriptStep {
    const { calls, scripts } = this.#state;
    const asked = scripts.listCalls(call.callId);
    const running = [...this.#nested.values()].flatMap(({ script, nested }) =>
      script.callId === call.callId && nested.startedAt !== null ? nested : [],
    );
    if (asked.length + running.length > 0) {
      const fields = { ok: false, error: "The script ended before this was answered", outcome: "stopped" as const };
      this.#state.change((tell) => {
        for (const row of asked) scripts.removeCall(row.callId);
        for (const one of [...asked, ...running]) tell(TOOL_FINISHED, { ...this.#describe(call, one), ...fields });
      });
      for (const one of [...asked, ...running])
        this.#recordOf(call.callId).add({ ...this.#describe(call, one), args: one.args, ...fields });
    }
    // Another call that does the same may wait for the same answer.
    const unwanted = asked.filter(
      ({ requestId }) =>
        scripts.listAwaiting(requestId).length === 0 && calls.listAwaiting(requestId).every(({ callId }) => callId === call.callId),
    );
    if (unwanted.length > 0) this.#withdrawQuestions(call, { calls: unwanted.map(({ callId }) => callId) });
    const { text, isError } = renderToolOutcome({ ok: true, data: toScriptResult(end) });
    return { kind: "ended", end: { isError, output: text } };
  }

  #withdrawQuestions({ runId }: Call, about: QuestionsAbout): void {
    const { ports } = this.#state;
    void ports.kernel
      .withdrawQuestions(runId, about)
      .catch((error: unknown) => ports.log("questions could not be withdrawn", { error: String(error) }));
  }

  /** Never rejects: nothing may be storable, for example because the disk is full. */
  async #answerSafely(script: Call, nested: ScriptCall, signal: AbortSignal): Promise<ScriptAnswer | { requestId: string }> {
    try {
      return await this.#answer(script, nested, signal);
    } catch (error) {
      return { kind: "error", message: error instanceof Error ? error.message : String(error) };
    }
  }

  async #answer(script: Call, { number, call, args }: ScriptCall, signal: AbortSignal): Promise<ScriptAnswer | { requestId: string }> {
    if (signal.aborted) return { kind: "error", message: "The script has ended" };
    const callId = makeScriptCallId(this.#state.ports.uuid());
    // The gate refuses anything but an object.
    const nested: NestedCall = { callId, number, syscall: call, args: JSON.parse(args) as Record<string, unknown>, startedAt: null };
    this.#reports.count(script.runId);
    const outcome = await this.#send(script, nested, false, signal);
    if (this.#state.isClosed || signal.aborted) {
      if (outcome.kind === "asked" && !this.#state.isClosed) this.#withdrawQuestions(script, { calls: [callId] });
      return { kind: "error", message: "The script has ended" };
    }
    if (outcome.kind === "done") return this.#reportEnd(script, nested, outcome);
    const { request } = outcome;
    this.#reports.flush();
    try {
      this.#state.change((tell) => {
        this.#state.scripts.addCall({ ...nested, scriptCallId: script.callId, requestId: request.requestId });
        tell(HIL_REQUESTED, { ...request, scriptCallId: script.callId });
      });
    } catch (error) {
      // The script will not wait for an answer.
      this.#withdrawQuestions(script, { calls: [callId] });
      throw error;
    }
    return request;
  }

  /** Sends a call again whose question may have been answered. Its row stays until the script goes on with the answer. */
  async #sendAgain(
    script: Call,
    row: ScriptCallRow,
    signal: AbortSignal,
  ): Promise<(NumberedAnswer & { callId: string }) | { requestId: string }> {
    const { scripts, ports } = this.#state;
    const { callId, number, isSent } = row;
    this.#state.change(() => scripts.markCallSent(callId));
    await ports.sql.waitUntilDurable();
    const outcome = await this.#send(script, row, isSent, signal);
    if (this.#state.isClosed || signal.aborted) return { requestId: row.requestId };
    if (outcome.kind === "done") return { number, callId, answer: this.#reportEnd(script, row, outcome) };
    const { request } = outcome;
    this.#state.change((tell) => {
      scripts.markCallAsked(callId, request.requestId);
      if (request.requestId !== row.requestId) tell(HIL_REQUESTED, { ...request, scriptCallId: script.callId });
    });
    return request;
  }

  async #send(script: Call, nested: NestedCall, isRepeat: boolean, signal: AbortSignal): Promise<SysOutcome> {
    const { kernel } = this.#state.ports;
    const { callId, syscall, args } = nested;
    const { runId, conversationId, name: tool, scriptCallId } = this.#describe(script, nested);
    const request = { runId, conversationId, callId, tool, syscall, args, isRepeat, scriptCallId };
    const late: SysOutcome = { kind: "done", isError: true, output: describeTimeout(syscall) };
    const expired = { value: late, reason: STOPPED };
    const onStart = () => this.#reportStart(script, nested);
    this.#nested.set(callId, { script, nested });
    try {
      return await withTimeout(CALL_MS, signal, (stopping) => kernel.runSyscall(request, stopping, onStart), expired);
    } catch (error) {
      return { kind: "done", isError: true, output: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#nested.delete(callId);
    }
  }

  #reportStart(script: Call, nested: NestedCall): void {
    if (this.#state.isClosed || nested.startedAt !== null) return;
    const startedAt = this.#state.ports.now();
    nested.startedAt = startedAt;
    this.#reports.add(script.runId, (tell) => {
      if (nested.requestId !== undefined) this.#state.scripts.markCallStarted(nested.callId, startedAt);
      tell(TOOL_STARTED, { ...this.#describe(script, nested), args: shortenArgs(nested.args, SHOWN_CHARS) });
    });
  }

  #reportEnd(
    script: Call,
    nested: NestedCall,
    { isError, outcome, output, json }: Extract<SysOutcome, { kind: "done" }>,
  ): NumberedAnswer["answer"] {
    const { ports } = this.#state;
    const { startedAt, requestId } = nested;
    const durationMs = startedAt === null ? {} : { durationMs: Math.max(0, ports.now() - startedAt) };
    // Followers know the arguments from its start or its question; this one had neither.
    const args = startedAt === null && requestId === undefined ? { args: shortenArgs(nested.args, SHOWN_CHARS) } : {};
    const end = { ...(isError ? { ok: false, error: output, ...(outcome && { outcome }) } : { ok: true }), ...durationMs };
    this.#recordOf(script.callId).add({ ...this.#describe(script, nested), args: nested.args, ...end });
    const shown = isError ? {} : { output };
    this.#reports.add(script.runId, (tell) => tell(TOOL_FINISHED, { ...this.#describe(script, nested), ...end, ...shown, ...args }));
    return json === undefined ? { kind: "error", message: output } : { kind: "value", json };
  }

  #describe({ callId: scriptCallId, runId }: Call, { callId, syscall }: NestedCall) {
    const conversationId = this.#state.runs.get(runId)?.conversationId ?? DEFAULT_CONVERSATION;
    return { name: TOOL_OF_SCRIPT_CALL.get(syscall) ?? syscall, syscall, callId, scriptCallId, runId, conversationId };
  }
}
