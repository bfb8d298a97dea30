// Which connections receive the events of a process: those that follow it, and the connection that started the run. Owns followers and
// run_routes. These rows are promised to nobody, and are deleted with their connection.

import { Cache } from "../../lib/cache.ts";
import type { Sql } from "../../ports/sql.ts";

export type FollowerReads = Pick<Followers, "listByProcess" | "countFollowedBy" | "routeOf" | "listConnectionIds">;

const ROUTE_MS = 30 * 60 * 1000;

type Route = { uid: number; connectionId: string; expiresAt: number };

const CACHE_MAX = 1024;

/** Every event and piece of an answer needs these rows, so they are cached. A rollback of rows must call `clearCaches`. */
export class Followers {
  readonly #sql: Sql;
  readonly #followers = new Cache<string, readonly string[]>(CACHE_MAX);
  /** Null for a run without a route. */
  readonly #routes = new Cache<string, Route | null>(CACHE_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  follow(connectionId: string, pid: string): void {
    this.#followers.delete(pid);
    this.#sql.run("INSERT OR IGNORE INTO followers VALUES (?, ?)", connectionId, pid);
  }

  /** False if the connection did not follow the process. */
  unfollow(connectionId: string, pid: string): boolean {
    this.#followers.delete(pid);
    return this.#sql.run("DELETE FROM followers WHERE connection_id = ? AND pid = ?", connectionId, pid) > 0;
  }

  listByProcess(pid: string): readonly string[] {
    const query = "SELECT connection_id FROM followers WHERE pid = ?";
    return this.#followers.get(pid, () => this.#sql.all(query, pid).map((row) => String(row.connection_id)));
  }

  clearCaches(): void {
    this.#followers.clear();
    this.#routes.clear();
  }

  countFollowedBy(connectionId: string): number {
    return Number(this.#sql.get("SELECT count(*) AS count FROM followers WHERE connection_id = ?", connectionId)?.count);
  }

  recordRoute(pid: string, runId: string, uid: number, connectionId: string, now: number): void {
    const key = routeKey(pid, runId);
    const expiresAt = now + ROUTE_MS;
    this.#sql.run("INSERT OR REPLACE INTO run_routes VALUES (?, ?, ?, ?)", key, uid, connectionId, expiresAt);
    this.#routes.set(key, { uid, connectionId, expiresAt });
  }

  /** The connection that started a run, until the route expires. */
  routeOf(pid: string, runId: string, now: number): Route | undefined {
    const key = routeKey(pid, runId);
    const route = this.#routes.get(key, () => this.#readRoute(key));
    return route === null || route.expiresAt <= now ? undefined : route;
  }

  #readRoute(key: string): Route | null {
    const row = this.#sql.get("SELECT uid, connection_id, expires_at FROM run_routes WHERE run_id = ?", key);
    return row === undefined ? null : { uid: Number(row.uid), connectionId: String(row.connection_id), expiresAt: Number(row.expires_at) };
  }

  removeRoute(pid: string, runId: string): void {
    const key = routeKey(pid, runId);
    this.#routes.delete(key);
    this.#sql.run("DELETE FROM run_routes WHERE run_id = ?", key);
  }

  removeConnection(connectionId: string): void {
    this.clearCaches();
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
    this.#routes.clear();
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
