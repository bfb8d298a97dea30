// Calls that have been running on devices for a while. Owns routes. The rows are written in the relaxed lane, so no call waits for the
// disk: if a crash loses a row, the caller is told that the answer is lost.

import type { Sql, SqlRow } from "../../ports/sql.ts";

export type Route = {
  routeId: string;
  call: string;
  deviceId: string;
  /** The name of the device in the call. */
  target: string;
  /** The connection that got the call, and the only one that may answer it. */
  driverId: string;
  /** The connection that made the call, and its request. */
  originId: string;
  requestId: string;
  uid: number;
  dueAt: number;
  /** Has an idempotency key: it may be sent again, and the device then answers with the first outcome. */
  isKeyed: boolean;
};

/** The origin of a route whose caller is gone: nobody gets the answer. */
export const NOBODY = "";

export class Routes {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add({ routeId, call, deviceId, target, driverId, originId, requestId, uid, dueAt, isKeyed }: Route): void {
    this.#sql.run(
      "INSERT INTO routes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      routeId,
      call,
      deviceId,
      driverId,
      originId,
      requestId,
      uid,
      dueAt,
      isKeyed ? 1 : 0,
      target,
    );
  }

  /** Closes and returns the route, if it is open and this connection got the call. */
  take(routeId: string, driverId: string): Route | undefined {
    const row = this.#sql.get("SELECT * FROM routes WHERE route_id = ? AND driver_id = ?", routeId, driverId);
    if (row !== undefined) this.remove([routeId]);
    return row && fromRow(row);
  }

  isEmpty(): boolean {
    return this.#sql.get("SELECT 1 FROM routes") === undefined;
  }

  extend(routeId: string, dueAt: number): void {
    this.#sql.run("UPDATE routes SET due_at = ? WHERE route_id = ?", dueAt, routeId);
  }

  takeOfDriver(driverId: string): Route[] {
    return this.#takeWhere("driver_id = ?", driverId);
  }

  takeOfOrigin(originId: string): Route[] {
    return this.#takeWhere("origin_id = ?", originId);
  }

  /** Nobody waits for these calls any more, but the kernel still uses their answers. */
  disownByOrigin(originId: string, call: string): void {
    this.#sql.run("UPDATE routes SET origin_id = ? WHERE origin_id = ? AND call = ?", NOBODY, originId, call);
  }

  disownOne(routeId: string): void {
    this.#sql.run("UPDATE routes SET origin_id = ? WHERE route_id = ?", NOBODY, routeId);
  }

  takeDue(now: number): Route[] {
    return this.#takeWhere("due_at <= ?", now);
  }

  listIds(): string[] {
    return this.#sql.all("SELECT route_id FROM routes").map((row) => String(row.route_id));
  }

  remove(routeIds: readonly string[]): void {
    for (const routeId of routeIds) this.#sql.run("DELETE FROM routes WHERE route_id = ?", routeId);
  }

  nextDueAt(): number | null {
    const due = this.#sql.get("SELECT min(due_at) AS due FROM routes")?.due;
    return due == null ? null : Number(due);
  }

  #takeWhere(condition: string, value: string | number): Route[] {
    const rows = this.#sql.all(`SELECT * FROM routes WHERE ${condition}`, value);
    if (rows.length > 0) this.#sql.run(`DELETE FROM routes WHERE ${condition}`, value);
    return rows.map(fromRow);
  }
}

function fromRow(row: SqlRow): Route {
  return {
    routeId: String(row.route_id),
    call: String(row.call),
    deviceId: String(row.device_id),
    target: String(row.target),
    driverId: String(row.driver_id),
    originId: String(row.origin_id),
    requestId: String(row.request_id),
    uid: Number(row.uid),
    dueAt: Number(row.due_at),
    isKeyed: row.keyed === 1,
  };
}
