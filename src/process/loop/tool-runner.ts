// Carries out what a model asked for: sends each call to the kernel, asks again after a crash, and writes down how it ended,
// once. Of a long output the history gets a part, and the rest is kept where the model can read it.

import { type Call, type CallEnd, durationOf } from "../rows/calls.ts";
import { DEFAULT_CONVERSATION } from "../rows/conversations.ts";
import { EarlyAnswers } from "./early-answers.ts";
import type { HilRequest } from "../../protocol/proc-records.ts";
import { HIL_REQUESTED, TOOL_FINISHED, TOOL_STARTED } from "../../protocol/signal-names.ts";
import { LEASE_MS, PERSON_LEASE_MS, type State } from "../rows/state.ts";
import { allowance, capped } from "../../agent/tool-text.ts";
import { toSyscall } from "../../agent/tools.ts";

export class ToolRunner {
  readonly #state: State;
  readonly #goOn: () => void;
  readonly #early = new EarlyAnswers<true>();

  /** `goOn` looks for what is to be done next. */
  constructor(state: State, goOn: () => void) {
    this.#state = state;
    this.#goOn = goOn;
  }

  async send(callId: string, signal: AbortSignal): Promise<void> {
    const { calls, usage, runs, ports } = this.#state;
    const call = calls.get(callId);
    if (call?.state !== "wanted") return;
    const { runId, tool, isAgain } = call;
    const wanted = toSyscall(tool, call.args);
    if ("error" in wanted) return this.#ended(call, { isError: true, output: `Error: ${wanted.error}` });
    const { call: syscall, args } = wanted;
    const conversationId = runs.get(runId)?.conversationId ?? DEFAULT_CONVERSATION;
    this.#state.change(() => {
      calls.sent(callId);
      if (!isAgain && call.requestId === null) usage.toolCalled(runId);
    });
    await ports.sql.durable();
    if (this.#state.isClosed || signal.aborted) return;
    const wish = { runId, conversationId, callId, tool, syscall, args, isAgain };
    const outcome = ports.kernel
      .sys(wish, signal, () => this.began(callId))
      .catch((error: unknown) => ({
        kind: "done" as const,
        isError: true,
        output: `Error: ${error instanceof Error ? error.message : String(error)}`,
      }));
    // Not waited for: others may run beside it, and whoever brings its end asks what is next.
    void outcome
      .then(async (end) => {
        const kept = end.kind === "asked" ? end : { ...end, output: await this.#cut(call, end.output) };
        if (this.#state.isClosed) return;
        if (kept.kind === "asked") this.#asked(call, kept.request);
        else this.#ended(call, kept);
        this.#goOn();
      })
      .catch((error: unknown) => ports.log("the result of a call could not be kept", { callId, error: String(error) }));
  }

  /** It is carried out from now on. Told once, however often it is sent. */
  began(callId: string): void {
    const { calls, runs, ports } = this.#state;
    const call = calls.get(callId);
    if (this.#state.isClosed || call === undefined || call.startedAt !== null) return;
    const { runId, tool } = call;
    const wanted = toSyscall(tool, call.args);
    const conversationId = runs.get(runId)?.conversationId ?? DEFAULT_CONVERSATION;
    if ("error" in wanted) return;
    this.#state.change((tell) => {
      if (!calls.started(callId, ports.now())) return;
      tell(TOOL_STARTED, { name: tool, syscall: wanted.call, args: wanted.args, callId, runId, conversationId });
    });
  }

  /** A person has answered. */
  decided(requestId: string): void {
    const { calls, runs, ports } = this.#state;
    this.#early.add(requestId, true);
    const waiting = calls.waitingFor(requestId);
    if (waiting.length === 0) return;
    this.#state.change(() => {
      for (const { callId, runId } of waiting) {
        calls.decided(callId);
        runs.resume(runId, ports.now() + LEASE_MS, ports.now());
      }
    });
    this.#goOn();
  }

  #asked({ callId, runId }: Call, request: HilRequest): void {
    const { calls, runs, ports } = this.#state;
    this.#state.change((tell) => {
      // What was over before it was asked about needs no answer any more.
      if (calls.get(callId)?.state !== "sent") return;
      calls.asked(callId, request.requestId);
      if (this.#early.get(request.requestId)) return calls.decided(callId);
      tell(HIL_REQUESTED, request);
      runs.pause(runId, ports.now() + PERSON_LEASE_MS, ports.now());
    });
  }

  /** As much of an output as may enter history; all of it is kept elsewhere. */
  async #cut({ callId, runId, messageId }: Call, output: string): Promise<string> {
    const { calls, ports } = this.#state;
    const others = calls.of(runId, messageId);
    const used = others.reduce((chars, other) => chars + (other.state === "done" ? other.output.length : 0), 0);
    const chars = allowance(used, others.filter(({ state }) => state !== "done").length);
    if (output.length <= chars) return output;
    const path = await ports.kernel.keepOutput(callId, output).catch(() => null);
    return capped(output, chars, path).text;
  }

  /** What comes late, of a run that is over, changes nothing. */
  #ended({ callId, runId, tool, syscall }: Call, end: CallEnd): void {
    const { calls, runs, ports } = this.#state;
    this.#state.change((tell) => {
      const now = ports.now();
      const run = runs.get(runId);
      if (run === undefined || !calls.done(callId, end, now)) return;
      if (run.pausedAt === null) runs.prolong(runId, now + LEASE_MS);
      const said = end.isError ? { ok: false, error: end.output } : { ok: true, output: end.output };
      const durationMs = durationOf({ startedAt: calls.get(callId)?.startedAt ?? null, endedAt: now });
      const how = { ...said, ...(end.outcome && { outcome: end.outcome }), ...(durationMs === undefined ? {} : { durationMs }) };
      tell(TOOL_FINISHED, { name: tool, syscall, callId, runId, conversationId: run.conversationId, ...how });
    });
  }
}
