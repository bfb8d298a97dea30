// Commands on devices that outlive the call that started them: on which device each runs, and whose it is. Owns shell_sessions. Commands
// on the gateway are not here; its shell keeps track of them.

import type { Sql } from "../../ports/sql.ts";

/** Commands have no time limit, and some run for weeks. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1000;

export type SessionStatus = "running" | "completed" | "failed";
/** `target` is the name that the user used for the device. */
export type ShellSession = { sessionId: string; deviceId: string; target: string; uid: number };

export class ShellSessions {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Undefined if the last update was more than a month ago. */
  get(sessionId: string, now: number): ShellSession | undefined {
    const row = this.#sql.get("SELECT * FROM shell_sessions WHERE session_id = ? AND updated_at > ?", sessionId, now - KEEP_MS);
    return row && { sessionId, deviceId: String(row.device_id), target: String(row.target), uid: Number(row.uid) };
  }

  /** Adds a session, or updates its time. The device and user of a session never change. */
  recordUse({ sessionId, deviceId, target, uid }: ShellSession, now: number): void {
    this.#sql.run(
      `INSERT INTO shell_sessions VALUES (?1, ?2, ?3, ?4, NULL, NULL, ?5)
       ON CONFLICT (session_id) DO UPDATE SET updated_at = ?4 WHERE device_id = ?2 AND uid = ?3`,
      sessionId,
      deviceId,
      uid,
      now,
      target,
    );
  }

  /** Stores the status that the device reported. False if nothing changed: a device may report the same status twice. */
  setStatus(sessionId: string, { status, exitCode }: { status: SessionStatus; exitCode: number | null }, now: number): boolean {
    const changed = this.#sql.run(
      `UPDATE shell_sessions SET status = ?2, exit_code = ?3, updated_at = ?4
       WHERE session_id = ?1 AND (status IS NULL OR (status = 'running' AND ?2 <> 'running'))`,
      sessionId,
      status,
      exitCode,
      now,
    );
    return changed > 0;
  }

  prune(now: number): void {
    this.#sql.run("DELETE FROM shell_sessions WHERE updated_at <= ?", now - KEEP_MS);
  }

  nextPruneAt(): number | null {
    const oldest = this.#sql.get("SELECT min(updated_at) AS oldest FROM shell_sessions")?.oldest;
    return oldest == null ? null : Number(oldest) + KEEP_MS;
  }
}
