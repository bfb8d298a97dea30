// Calls of one process to another that wait for an answer. Owns ipc_calls. A row is deleted when the answer or the timeout was delivered
// to the calling process. Until then delivery is retried, with the same run id, so that it becomes one message.

import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { Posture } from "../../protocol/process-settings.ts";

export type IpcCall = {
  callId: string;
  uid: number;
  sourcePid: string;
  /** The conversation of the source that waits for the answer. */
  conversationId: string;
  /** Which one that conversation had when it made the call. */
  posture: Posture;
  targetPid: string;
  runId: string;
  createdAt: number;
  deadlineAt: number;
};

export class IpcCalls {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add({ callId, uid, sourcePid, conversationId, posture, targetPid, runId, createdAt, deadlineAt }: IpcCall): void {
    this.#sql.run(
      `INSERT INTO ipc_calls (call_id, uid, source_pid, target_pid, run_id, created_at, deadline_at, conversation_id, posture)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      callId,
      uid,
      sourcePid,
      targetPid,
      runId,
      createdAt,
      deadlineAt,
      conversationId,
      posture,
    );
  }

  findByRun(runId: string): IpcCall | undefined {
    const row = this.#sql.get("SELECT * FROM ipc_calls WHERE run_id = ?", runId);
    return row && fromRow(row);
  }

  listDue(now: number): IpcCall[] {
    return this.#sql.all("SELECT * FROM ipc_calls WHERE deadline_at <= ? ORDER BY deadline_at LIMIT 100", now).map(fromRow);
  }

  nextDueAt(): number | null {
    const due = this.#sql.get("SELECT min(deadline_at) AS due FROM ipc_calls")?.due;
    return due == null ? null : Number(due);
  }

  remove(callId: string): void {
    this.#sql.run("DELETE FROM ipc_calls WHERE call_id = ?", callId);
  }

  /** Delivery failed: it is retried at this time. */
  postpone(callId: string, dueAt: number): void {
    this.#sql.run("UPDATE ipc_calls SET deadline_at = ? WHERE call_id = ?", dueAt, callId);
  }
}

function fromRow(row: SqlRow): IpcCall {
  return {
    callId: String(row.call_id),
    uid: Number(row.uid),
    sourcePid: String(row.source_pid),
    conversationId: String(row.conversation_id ?? "default"),
    posture: row.posture as Posture,
    targetPid: String(row.target_pid),
    runId: String(row.run_id),
    createdAt: Number(row.created_at),
    deadlineAt: Number(row.deadline_at),
  };
}
