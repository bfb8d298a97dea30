// Who is told of what a process does: the connections that follow it, and for those who follow nothing, the connection a run
// was started from. Owns followers and run_routes. Nobody was promised these rows, and they go with their connection.

import type { Sql } from "../../ports/sql.ts";

export type FollowerReads = Pick<Followers, "of" | "countOf" | "routeOf" | "connections">;

const ROUTE_MS = 30 * 60 * 1000;

export class Followers {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  follow(connectionId: string, pid: string): void {
    this.#sql.run("INSERT OR IGNORE INTO followers VALUES (?, ?)", connectionId, pid);
  }

  /** False where it did not. */
  leave(connectionId: string, pid: string): boolean {
    return this.#sql.run("DELETE FROM followers WHERE connection_id = ? AND pid = ?", connectionId, pid) > 0;
  }

  of(pid: string): string[] {
    return this.#sql.all("SELECT connection_id FROM followers WHERE pid = ?", pid).map((row) => String(row.connection_id));
  }

  countOf(connectionId: string): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM followers WHERE connection_id = ?", connectionId)?.count);
  }

  routed(pid: string, runId: string, uid: number, connectionId: string, now: number): void {
    this.#sql.run("INSERT OR REPLACE INTO run_routes VALUES (?, ?, ?, ?)", whole(pid, runId), uid, connectionId, now + ROUTE_MS);
  }

  /** Where a run was started, as long as that counts. */
  routeOf(pid: string, runId: string, now: number): { uid: number; connectionId: string } | undefined {
    const row = this.#sql.get("SELECT uid, connection_id FROM run_routes WHERE run_id = ? AND expires_at > ?", whole(pid, runId), now);
    return row && { uid: Number(row.uid), connectionId: String(row.connection_id) };
  }

  runEnded(pid: string, runId: string): void {
    this.#sql.run("DELETE FROM run_routes WHERE run_id = ?", whole(pid, runId));
  }

  connectionGone(connectionId: string): void {
    this.#sql.run("DELETE FROM followers WHERE connection_id = ?", connectionId);
    this.#sql.run("DELETE FROM run_routes WHERE connection_id = ?", connectionId);
  }

  /** After a crash rows may be left of connections that went with it. */
  connections(): string[] {
    return this.#sql
      .all("SELECT connection_id FROM followers UNION SELECT connection_id FROM run_routes")
      .map((row) => String(row.connection_id));
  }

  prune(now: number): void {
    this.#sql.run("DELETE FROM run_routes WHERE expires_at <= ?", now);
  }

  nextPruneAt(): number | null {
    const due = this.#sql.get("SELECT min(expires_at) AS due FROM run_routes")?.due;
    return due == null ? null : Number(due);
  }
}

/** Whoever starts a run may name it, and two processes may have one of the same name. */
function whole(pid: string, runId: string): string {
  return `${pid} ${runId}`;
}
