// The rows of a process, and the few changes that everything else is built from: add a message, begin a run, end a run. Each
// change is one transaction together with the events it causes. It starts no work: loop/runner.ts decides what
// happens next.

import { fail } from "../../lib/sys-error.ts";
import { isScriptTool } from "../../agent/tools.ts";
import type { OutputBlock } from "../../ports/models.ts";
import type { ScriptCallList } from "../../protocol/proc-records.ts";
import { type Call, Calls, durationOf } from "./calls.ts";
import { Conversations } from "./conversations.ts";
import { CHAT_COMPLETE, PROC_CHANGED, RUN_FINISHED, RUN_STARTED, TOOL_FINISHED } from "../../protocol/signal-names.ts";
import type { AnswerPiece, ProcessEventFields, Payload, ProcessEvent, ProcessEventName } from "../../protocol/signals.ts";
import { Events } from "./events.ts";
import { History, type Message, type MessageContent } from "./history.ts";
import type { EventDelivery } from "../event-delivery.ts";
import type { ProcessPorts } from "../kernel-port.ts";
import { Scripts } from "./scripts.ts";
import { type Run, type RunOutcome, type RunReason, Runs, activeMs } from "./runs.ts";
import { migrate } from "./schema.ts";
import { Segments } from "./segments.ts";
import { Usage } from "./usage.ts";
import { toWireMessage } from "../conversation/wire-message.ts";

/** A run without progress for this long is ended, whatever it was doing. */
export const LEASE_MS = 15 * 60 * 1000;
/** People take longer; the question itself expires on its own. */
export const PERSON_LEASE_MS = 7 * 24 * 60 * 60 * 1000;
const INTERRUPTED = "User interrupted tool execution";

/** Where events and pieces go once they are durable: EventDelivery. */
export type Delivery = Pick<EventDelivery, "emit" | "stream">;

/** Adds the fields that every event carries. */
export type Tell = <N extends ProcessEventName>(signal: N, payload: Omit<Payload<N>, keyof ProcessEventFields>) => void;

export class State {
  readonly pid: string;
  readonly ports: ProcessPorts;
  readonly #delivery: Delivery;
  readonly conversations: Conversations;
  readonly history: History;
  readonly events: Events;
  readonly runs: Runs;
  readonly calls: Calls;
  readonly scripts: Scripts;
  readonly segments: Segments;
  readonly usage: Usage;
  /** The partial answer, as it is stored when a run is stopped; null if nothing of it has arrived. */
  readPartialAnswer: (runId: string) => Extract<MessageContent, { role: "assistant" }> | null = () => null;
  /** The calls that a script made, for its result; undefined if there were none. */
  takeScriptCalls: (callId: string) => ScriptCallList | undefined = () => undefined;
  /** Conversations that are being emptied, in which no run may begin. */
  readonly held = new Set<string>();
  /** This instance may not write any more: there may be a newer one. */
  isClosed = false;

  constructor(pid: string, ports: ProcessPorts, delivery: Delivery) {
    const { sql } = ports;
    this.pid = pid;
    this.ports = ports;
    this.#delivery = delivery;
    migrate(sql, ports.now());
    this.conversations = new Conversations(sql);
    this.history = new History(sql);
    this.events = new Events(sql);
    this.runs = new Runs(sql);
    this.calls = new Calls(sql);
    this.scripts = new Scripts(sql);
    this.segments = new Segments(sql);
    this.usage = new Usage(sql);
    const active = this.runs.findActive();
    if (active !== undefined) sql.transaction(() => this.#prepareToContinue(active));
  }

  /** For a new instance of the process. */
  #prepareToContinue({ runId }: Run): void {
    this.calls.markUnconfirmed();
    // A suspended script that this gateway cannot continue ends now, not when a person has answered for nothing.
    const now = this.ports.now();
    for (const { callId, engine } of this.scripts.list()) {
      if (engine === null || engine === this.ports.sandbox.engine) continue;
      this.calls.markWanted(callId);
      this.runs.resume(runId, now + LEASE_MS, now);
    }
  }

  /** One transaction; its events are emitted when it is durable, in order. */
  change<T>(body: (tell: Tell) => T): T {
    if (this.isClosed) fail(503, "The process was put to sleep in the meantime: try again");
    const { sql } = this.ports;
    const events: ProcessEvent[] = [];
    const tell: Tell = (signal, payload) => {
      const now = this.ports.now();
      events.push(this.events.add(signal, { ...this.#commonEventFields(now), ...payload } as Payload<typeof signal>, now));
    };
    const value = this.#transact(() => body(tell));
    // Events of a failed commit are never emitted; the owner of the database starts a new instance.
    if (events.length > 0)
      void sql.waitUntilDurable().then(
        () => this.#delivery.emit(events),
        () => {},
      );
    return value;
  }

  #transact<T>(body: () => T): T {
    try {
      return this.ports.sql.transaction(body);
    } catch (error) {
      for (const rows of [this.history, this.events, this.runs, this.usage]) rows.clearCaches();
      throw error;
    }
  }

  #commonEventFields(now: number): ProcessEventFields {
    const pausedCount = this.runs.countOnHold();
    const paused = pausedCount === 0 ? {} : { pausedCount };
    return { pid: this.pid, queuedCount: this.runs.countWaiting(), ...paused, timestamp: now };
  }

  /** Sends a piece after all events emitted before it, and before those emitted after it. */
  stream(piece: AnswerPiece): void {
    const { sql } = this.ports;
    void sql.waitUntilDurable().then(
      () => this.#delivery.stream(piece),
      () => {},
    );
  }

  appendMessage(conversationId: string, runId: string | null, said: MessageContent, tell: Tell): Message {
    const message = this.history.append(conversationId, runId, said, this.ports.now());
    const { role } = said;
    // Text of models and tools is reported by events of its own.
    const content = role === "user" || role === "system" ? { content: toWireMessage(message).content } : {};
    const ofRun = runId === null ? {} : { runId };
    tell(PROC_CHANGED, { changes: ["messages"], conversationId, messageId: message.id, role, ...content, ...ofRun });
    return message;
  }

  /** Runs that may begin, oldest first. */
  listStartable(): Run[] {
    return this.runs.listWaiting().filter(({ conversationId, isOnHold }) => !isOnHold && !this.held.has(conversationId));
  }

  beginRun(runId: string, reason: RunReason, tell: Tell): void {
    const now = this.ports.now();
    const run = this.runs.get(runId);
    if (run?.state !== "waiting") return;
    this.runs.begin(runId, now + LEASE_MS, now);
    const { conversationId } = run;
    tell(RUN_STARTED, { runId, conversationId, reason });
    if (run.message !== null) this.appendMessage(conversationId, runId, run.message, tell);
  }

  /** Adds messages that arrived meanwhile; they are answered together with the run. */
  joinRuns(runId: string, runIds: readonly string[], tell: Tell): void {
    for (const joined of runIds) {
      const run = this.runs.get(joined);
      if (run?.state !== "waiting") continue;
      this.runs.join(joined, runId, this.ports.now());
      tell(RUN_STARTED, { runId: joined, conversationId: run.conversationId, reason: run.reason });
      if (run.message !== null) this.appendMessage(run.conversationId, joined, run.message, tell);
    }
  }

  /** All calls have ended: their results become messages. */
  collectResults(runId: string, tell: Tell): void {
    const run = this.runs.findActive();
    if (run?.runId !== runId) return;
    const last = this.history.findLast(run.conversationId);
    if (last?.role !== "assistant") return;
    for (const call of this.calls.listForMessage(runId, last.id))
      this.appendMessage(run.conversationId, runId, this.#toResultMessage(call), tell);
  }

  /** Ends the active run, its open calls, and the runs that are answered together with it. */
  endActiveRun(run: Run, outcome: RunOutcome, tell: Tell): void {
    const partialMessage = outcome.status === "aborted" ? this.readPartialAnswer(run.runId) : null;
    if (partialMessage !== null) this.appendMessage(run.conversationId, run.runId, partialMessage, tell);
    this.endOpenCalls(run, tell);
    this.calls.removeForRun(run.runId);
    this.scripts.removeForRun(run.runId);
    for (const joined of this.runs.listJoined(run.runId)) this.endRun(joined, outcome, tell);
    this.endRun(run, outcome, tell);
  }

  /** Every run ends here, and once; `chat.complete` is the older name of the same event. */
  endRun(run: Run, outcome: RunOutcome, tell: Tell): void {
    const { runId, conversationId, startedAt, joinedTo } = run;
    const now = this.ports.now();
    const wallMs = startedAt !== null && joinedTo === null ? activeMs(run, now) : 0;
    if (wallMs > 0) this.usage.addWallTime(runId, wallMs);
    const { modelCalls, usage } = this.usage.ofRun(runId);
    const whole: RunOutcome = modelCalls === 0 ? outcome : { ...outcome, usage };
    if (!this.runs.end(runId, whole, now)) return;
    const aborted = outcome.status === "aborted" ? { aborted: true as const } : {};
    // Another run may still be active if this one was queued or answered together with it.
    const active = this.runs.findActive();
    const stillActive = active === undefined ? {} : { activeRunId: active.runId };
    tell(RUN_FINISHED, { runId, conversationId, ...whole, ...aborted, wallMs, ...stillActive });
    const { status: _, reason, ...complete } = whole;
    tell(CHAT_COMPLETE, { runId, conversationId, ...complete, ...aborted, ...(outcome.status === "aborted" ? { reason } : {}) });
  }

  /** Ends the open calls of the run. */
  endOpenCalls(run: Run, tell: Tell): void {
    const open = this.calls.listOpen(run.runId);
    if (open.length === 0) return;
    const now = this.ports.now();
    for (const call of open) {
      const { callId, tool, syscall, startedAt } = call;
      const end = { isError: true, outcome: "stopped" as const, output: `Error: ${INTERRUPTED}` };
      this.calls.markDone(callId, end, now);
      const durationMs = durationOf({ startedAt, endedAt: now });
      const { runId, conversationId } = run;
      const took = durationMs === undefined ? {} : { durationMs };
      const fields = { ok: false, error: end.output, outcome: end.outcome, ...took };
      tell(TOOL_FINISHED, { name: tool, syscall, callId, runId, conversationId, ...fields });
    }
    // Every call needs a result in the history, or the next model that reads it is confused.
    this.collectResults(run.runId, tell);
  }

  #toResultMessage(call: Call): MessageContent {
    const { callId, tool, isError, outcome, output, images } = call;
    const durationMs = durationOf(call);
    const scriptCalls = isScriptTool(tool) ? this.takeScriptCalls(callId) : undefined;
    return {
      role: "toolResult",
      callId,
      tool,
      isError,
      ...(outcome === null ? {} : { outcome }),
      ...(durationMs === undefined ? {} : { durationMs }),
      output,
      ...(images.length === 0 ? {} : { images }),
      ...(scriptCalls === undefined ? {} : { scriptCalls }),
    };
  }
}

export function textOfBlocks(blocks: readonly OutputBlock[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}
