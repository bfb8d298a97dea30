// Tool calls of models. A call is stored before it runs, and its result is stored once. Owns calls.

import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { StoredMedia } from "./history.ts";
import type { CallState } from "../loop/next.ts";

export type Call = {
  callId: string;
  runId: string;
  messageId: number;
  tool: string;
  /** Null if there is no such tool. */
  syscall: string | null;
  /** As the model wrote them; null if they could not be parsed. */
  args: Record<string, unknown> | null;
  state: CallState;
  /** An earlier instance of this process sent it and was lost before the result arrived. */
  isRepeat: boolean;
  /** The question to a person, if one was asked. */
  requestId: string | null;
  isError: boolean;
  /** Set if it was neither a success nor a failure. */
  outcome: CallOutcome | null;
  output: string;
  images: StoredMedia[];
  createdAt: number;
  /** When it began to run. If a person was asked, that is later than the model's request. */
  startedAt: number | null;
  endedAt: number | null;
};

/** A person or a policy denied it, or the run was stopped while it ran. */
export type CallOutcome = "denied" | "stopped";
export type CallEnd = { isError: boolean; outcome?: CallOutcome; output: string; images?: StoredMedia[] };

export class Calls {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(callId: string): Call | undefined {
    const row = this.#sql.get("SELECT * FROM calls WHERE call_id = ?", callId);
    return row && fromRow(row);
  }

  /** In the model's order. */
  listForMessage(runId: string, messageId: number): Call[] {
    return this.#sql.all("SELECT * FROM calls WHERE run_id = ? AND message_id = ? ORDER BY position", runId, messageId).map(fromRow);
  }

  /** Calls of a run that have not ended. */
  listOpen(runId: string): Call[] {
    return this.#sql.all("SELECT * FROM calls WHERE run_id = ? AND state <> 'done' ORDER BY message_id, position", runId).map(fromRow);
  }

  add(call: Pick<Call, "callId" | "runId" | "messageId" | "tool" | "syscall" | "args">, position: number, now: number): void {
    const { callId, runId, messageId, tool, syscall, args } = call;
    this.#sql.run(
      `INSERT INTO calls (call_id, run_id, message_id, position, tool, syscall, args, state, again, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'wanted', 0, ?)`,
      callId,
      runId,
      messageId,
      position,
      tool,
      syscall,
      JSON.stringify(args),
      now,
    );
  }

  markAsked(callId: string, requestId: string): void {
    this.#sql.run("UPDATE calls SET state = 'asked', request_id = ? WHERE call_id = ? AND state = 'sent'", requestId, callId);
  }

  /** For a new instance of the process: calls that were sent are wanted again, and the kernel is told that they may have run. */
  markUnconfirmed(): void {
    this.#sql.run("UPDATE calls SET state = 'wanted', again = 1 WHERE state = 'sent'");
  }

  /** Calls that wait for the answer to this question: identical calls share one question. */
  listAwaiting(requestId: string): Call[] {
    return this.#sql.all("SELECT * FROM calls WHERE request_id = ? AND state = 'asked'", requestId).map(fromRow);
  }

  /** Its question was answered: it is wanted again. */
  markWanted(callId: string): void {
    this.#sql.run("UPDATE calls SET state = 'wanted' WHERE call_id = ? AND state = 'asked'", callId);
  }

  /** Stored before it is sent, so that after a crash it is known that it may have run. */
  markSent(callId: string): void {
    this.#sql.run("UPDATE calls SET state = 'sent' WHERE call_id = ? AND state = 'wanted'", callId);
  }

  /** False if that was stored already, or it has ended. */
  markStarted(callId: string, now: number): boolean {
    return this.#sql.run("UPDATE calls SET started_at = ? WHERE call_id = ? AND state = 'sent' AND started_at IS NULL", now, callId) > 0;
  }

  /** False if it had ended before: a late result changes nothing. */
  markDone(callId: string, { isError, outcome, output, images = [] }: CallEnd, now: number): boolean {
    const changed = this.#sql.run(
      "UPDATE calls SET state = 'done', is_error = ?, outcome = ?, output = ?, images = ?, ended_at = ? WHERE call_id = ? AND state <> 'done'",
      isError ? 1 : 0,
      outcome ?? null,
      output,
      images.length === 0 ? null : JSON.stringify(images),
      now,
      callId,
    );
    return changed > 0;
  }

  removeForRun(runId: string): void {
    this.#sql.run("DELETE FROM calls WHERE run_id = ?", runId);
  }
}

/** How long it ran; undefined if it never did. */
export function durationOf({ startedAt, endedAt }: Pick<Call, "startedAt" | "endedAt">): number | undefined {
  return startedAt === null || endedAt === null ? undefined : Math.max(0, endedAt - startedAt);
}

function fromRow(row: SqlRow): Call {
  return {
    callId: String(row.call_id),
    runId: String(row.run_id),
    messageId: Number(row.message_id),
    tool: String(row.tool),
    syscall: row.syscall as string | null,
    args: JSON.parse(String(row.args)) as Call["args"],
    state: row.state as CallState,
    isRepeat: row.again === 1,
    requestId: row.request_id as string | null,
    isError: row.is_error === 1,
    outcome: row.outcome as CallOutcome | null,
    output: String(row.output ?? ""),
    images: row.images === null ? [] : (JSON.parse(String(row.images)) as StoredMedia[]),
    createdAt: Number(row.created_at),
    startedAt: row.started_at as number | null,
    endedAt: row.ended_at as number | null,
  };
}
