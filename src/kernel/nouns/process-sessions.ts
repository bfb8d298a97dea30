// Background commands of processes, on any target. Owns process_sessions. A row says that a call of the process was answered with "still
// running"; only the target knows whether the command still runs.

import type { Sql, SqlRow } from "../../ports/sql.ts";

export type ProcessSession = {
  sessionId: string;
  pid: string;
  uid: number;
  target: string;
  command: string;
  runId: string;
  conversationId: string;
  startedAt: number;
};

const COMMAND_CHARS_MAX = 1_000;

export class ProcessSessions {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Oldest first. */
  listByProcess(pid: string): ProcessSession[] {
    return this.#sql.all("SELECT * FROM process_sessions WHERE pid = ? ORDER BY started_at, session_id", pid).map(fromRow);
  }

  /** Commands that a run started and still waits for: it has made no other call since. */
  listAwaited(pid: string, runId: string): ProcessSession[] {
    return this.#sql.all("SELECT * FROM process_sessions WHERE pid = ? AND run_id = ? AND awaited = 1", pid, runId).map(fromRow);
  }

  /** The answer to a call said that its command is still running. */
  add({ sessionId, pid, uid, target, command, runId, conversationId, startedAt }: ProcessSession): void {
    this.#sql.run(
      "INSERT OR REPLACE INTO process_sessions VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)",
      sessionId,
      pid,
      uid,
      target,
      command.slice(0, COMMAND_CHARS_MAX).toWellFormed(),
      runId,
      conversationId,
      startedAt,
    );
  }

  /** The answer to a poll said that the command is still running. */
  markAwaited(pid: string, sessionId: string): void {
    this.#sql.run("UPDATE process_sessions SET awaited = 1 WHERE session_id = ? AND pid = ?", sessionId, pid);
  }

  /** The process makes another call, so it waits for no command except this one. */
  clearAwaited(pid: string, exceptSessionId: string | null): void {
    this.#sql.run("UPDATE process_sessions SET awaited = 0 WHERE pid = ? AND awaited = 1 AND session_id <> ?", pid, exceptSessionId ?? "");
  }

  /** Deletes the row. Returns its uid; undefined if there is none, or if it belongs to another process than `pid`. */
  remove(sessionId: string, pid?: string): number | undefined {
    const row = this.#sql.get("SELECT uid, pid FROM process_sessions WHERE session_id = ?", sessionId);
    if (row === undefined || (pid !== undefined && row.pid !== pid)) return undefined;
    this.#sql.run("DELETE FROM process_sessions WHERE session_id = ?", sessionId);
    return Number(row.uid);
  }
}

function fromRow(row: SqlRow): ProcessSession {
  return {
    sessionId: String(row.session_id),
    pid: String(row.pid),
    uid: Number(row.uid),
    target: String(row.target),
    command: String(row.command),
    runId: String(row.run_id),
    conversationId: String(row.conversation_id),
    startedAt: Number(row.started_at),
  };
}
