// Which connections receive the events of a process: those that follow it, and the connection that started the run. Owns followers and
// run_routes. These rows are promised to nobody, and are deleted with their connection.

import type { Sql } from "../../ports/sql.ts";

export type FollowerReads = Pick<Followers, "listByProcess" | "countFollowedBy" | "routeOf" | "listConnectionIds">;

const ROUTE_MS = 30 * 60 * 1000;

export class Followers {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  follow(connectionId: string, pid: string): void {
    this.#sql.run("INSERT OR IGNORE INTO followers VALUES (?, ?)", connectionId, pid);
  }

  /** False if the connection did not follow the process. */
  unfollow(connectionId: string, pid: string): boolean {
    return this.#sql.run("DELETE FROM followers WHERE connection_id = ? AND pid = ?", connectionId, pid) > 0;
  }

  listByProcess(pid: string): string[] {
    return this.#sql.all("SELECT connection_id FROM followers WHERE pid = ?", pid).map((row) => String(row.connection_id));
  }

  countFollowedBy(connectionId: string): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM followers WHERE connection_id = ?", connectionId)?.count);
  }

  recordRoute(pid: string, runId: string, uid: number, connectionId: string, now: number): void {
    this.#sql.run("INSERT OR REPLACE INTO run_routes VALUES (?, ?, ?, ?)", routeKey(pid, runId), uid, connectionId, now + ROUTE_MS);
  }

  /** The connection that started a run, until the route expires. */
  routeOf(pid: string, runId: string, now: number): { uid: number; connectionId: string } | undefined {
    const row = this.#sql.get("SELECT uid, connection_id FROM run_routes WHERE run_id = ? AND expires_at > ?", routeKey(pid, runId), now);
    return row && { uid: Number(row.uid), connectionId: String(row.connection_id) };
  }

  removeRoute(pid: string, runId: string): void {
    this.#sql.run("DELETE FROM run_routes WHERE run_id = ?", routeKey(pid, runId));
  }

  removeConnection(connectionId: string): void {
    this.#sql.run("DELETE FROM followers WHERE connection_id = ?", connectionId);
    this.#sql.run("DELETE FROM run_routes WHERE connection_id = ?", connectionId);
  }

  /** All connections in these rows. After a crash, some of them may be gone. */
  listConnectionIds(): string[] {
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

/** Callers choose run ids, so two processes may have a run with the same id. */
function routeKey(pid: string, runId: string): string {
  return `${pid} ${runId}`;
}
