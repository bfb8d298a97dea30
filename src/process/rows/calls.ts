// Calls a model asked for: what is to run is written down before anything runs, and how it ended once. Owns calls.

import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { StoredMedia } from "./history.ts";
import type { CallState } from "../loop/next.ts";

export type Call = {
  callId: string;
  runId: string;
  messageId: number;
  tool: string;
  /** Null where there is no such tool. */
  syscall: string | null;
  /** As the model gave them; null where they cannot be read. */
  args: Record<string, unknown> | null;
  state: CallState;
  /** It was sent by an earlier life of this process, which did not live to hear how it ended. */
  isAgain: boolean;
  /** The question to a person, if one was asked. */
  requestId: string | null;
  isError: boolean;
  /** Where it neither succeeded nor failed. */
  outcome: CallOutcome | null;
  output: string;
  images: StoredMedia[];
  createdAt: number;
  /** Since when it is carried out: later than it was wanted, where a person was asked. */
  startedAt: number | null;
  endedAt: number | null;
};

/** Somebody, or a policy, said no; or the run was ended while it was carried out. */
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
  of(runId: string, messageId: number): Call[] {
    return this.#sql.all("SELECT * FROM calls WHERE run_id = ? AND message_id = ? ORDER BY position", runId, messageId).map(fromRow);
  }

  /** Of a run, whatever is not over. */
  open(runId: string): Call[] {
    return this.#sql.all("SELECT * FROM calls WHERE run_id = ? AND state <> 'done' ORDER BY message_id, position", runId).map(fromRow);
  }

  want(call: Pick<Call, "callId" | "runId" | "messageId" | "tool" | "syscall" | "args">, position: number, now: number): void {
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

  asked(callId: string, requestId: string): void {
    this.#sql.run("UPDATE calls SET state = 'asked', request_id = ? WHERE call_id = ? AND state = 'sent'", requestId, callId);
  }

  /** A new life of the process: whatever was on its way is wanted as before, and whoever carries it out is told so. */
  beginAnew(): void {
    this.#sql.run("UPDATE calls SET state = 'wanted', again = 1 WHERE state = 'sent'");
  }

  /** Calls that wait for the answer to this question: the same call twice is one question. */
  waitingFor(requestId: string): Call[] {
    return this.#sql.all("SELECT * FROM calls WHERE request_id = ? AND state = 'asked'", requestId).map(fromRow);
  }

  /** The answer to its question has come: it is wanted as before. */
  decided(callId: string): void {
    this.#sql.run("UPDATE calls SET state = 'wanted' WHERE call_id = ? AND state = 'asked'", callId);
  }

  /** Before it is: so that after a crash it is known that it may have been carried out. */
  sent(callId: string): void {
    this.#sql.run("UPDATE calls SET state = 'sent' WHERE call_id = ? AND state = 'wanted'", callId);
  }

  /** False where that was known, or it is over. */
  started(callId: string, now: number): boolean {
    return this.#sql.run("UPDATE calls SET started_at = ? WHERE call_id = ? AND state = 'sent' AND started_at IS NULL", now, callId) > 0;
  }

  /** False where it was over before: what comes late changes nothing. */
  done(callId: string, { isError, outcome, output, images = [] }: CallEnd, now: number): boolean {
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

  forget(runId: string): void {
    this.#sql.run("DELETE FROM calls WHERE run_id = ?", runId);
  }
}

/** How long it was carried out; undefined where it never was. */
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
    isAgain: row.again === 1,
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
