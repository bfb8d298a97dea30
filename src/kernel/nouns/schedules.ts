// Schedules: when they run, what they do, and how their last run went. Owns schedules. Times are computed elsewhere (src/schedules);
// `nextAt` is the time a schedule runs for next, `wakeAt` when the kernel looks at it again. One that is due joins the queue of its user.

import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql, SqlRow, SqlValue } from "../../ports/sql.ts";
import { isRoot } from "../../protocol/caller.ts";
import type {
  CatchUp,
  Principal,
  ScheduleExpression,
  ScheduleNotify,
  ScheduleRecord,
  ScheduleTarget,
} from "../../protocol/schedule-records.ts";

export type LastStatus = NonNullable<ScheduleRecord["state"]["lastStatus"]>;

export type ScheduleRow = {
  id: string;
  uid: number;
  creator: Principal;
  name: string;
  description: string | null;
  enabled: boolean;
  expression: ScheduleExpression;
  target: ScheduleTarget;
  /** Who set the target, which may be somebody else than its creator. */
  targetBy: Principal;
  catchUp: CatchUp;
  notify: ScheduleNotify;
  /** The time that `after` and `every` count from. */
  anchorAt: number;
  nextAt: number | null;
  /** Null if it has no next time, and while it waits for its run. */
  wakeAt: number | null;
  /** Since when it is due and waits, for a free start or for its run; null if it does not. A new `nextAt` clears it. */
  queuedAt: number | null;
  /**
   * When `nextAt` was computed, which is always the later one. If this is later than now, the clock was set back, and `nextAt` is computed
   * again. So that no time is lost, waiting does not change it: one that is due stays due.
   */
  countedAt: number;
  /** When its only time was used up, or it ran last after that; null if that time is still to come, or it repeats. */
  endedAt: number | null;
  /** Whether its processes may be used by other schedules when it has ended. */
  hasSpares: boolean;
  /** Its unfinished run. */
  runId: string | null;
  runningAt: number | null;
  lastRunAt: number | null;
  lastStatus: LastStatus | null;
  lastError: string | null;
  lastMs: number | null;
  runCount: number;
  /** How many runs have failed in a row. */
  failures: number;
  pausedBecause: string | null;
  createdAt: number;
  updatedAt: number;
};

export type ScheduleChange = Partial<Omit<ScheduleRow, "id" | "uid" | "creator" | "createdAt">>;

export type ScheduleReads = Pick<
  Schedules,
  "find" | "sizeOf" | "requireUsable" | "list" | "listComing" | "count" | "listQueued" | "listQueues" | "listCountedAfter" | "nextWakeAt"
>;

/** Sorts after all times: those that never run come last. */
const NEVER = Number.MAX_SAFE_INTEGER;

export class Schedules {
  readonly #sql: Sql;
  readonly #crypto: Crypto;

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  find(id: string): ScheduleRow | undefined {
    const row = this.#sql.get("SELECT * FROM schedules WHERE schedule_id = ?", id);
    return row && fromRow(row);
  }

  /** For everybody except its owner and root, a schedule does not exist. */
  requireUsable(who: { uid: number }, id: string): ScheduleRow {
    const found = this.find(id);
    if (found === undefined || (found.uid !== who.uid && !isRoot(who))) fail(404, `Schedule not found: ${id}`);
    return found;
  }

  /** The next to run first, then those that do not run, the last changed first. Without a uid, those of all users. */
  list(
    uid: number | undefined,
    { includeDisabled, limit, offset }: { includeDisabled: boolean; limit: number; offset: number },
  ): ScheduleRow[] {
    const { where, bindings } = makeFilter(uid, includeDisabled);
    return this.#sql
      .all(`SELECT * FROM schedules ${where} ORDER BY sort_at, updated_at DESC, schedule_id LIMIT ? OFFSET ?`, ...bindings, limit, offset)
      .map(fromRow);
  }

  /** Those of a user that run up to a time, the next first. Their targets, which may be large, are not read. */
  listComing(uid: number, until: number, limit: number): Pick<ScheduleRow, "id" | "name" | "expression" | "anchorAt" | "nextAt">[] {
    const query = "SELECT schedule_id, name, expression, anchor_at, next_at FROM schedules WHERE uid = ? AND sort_at <= ? AND enabled = 1";
    return this.#sql.all(`${query} ORDER BY sort_at, updated_at DESC LIMIT ?`, uid, until, limit).map((row) => ({
      id: String(row.schedule_id),
      name: String(row.name),
      expression: JSON.parse(String(row.expression)) as ScheduleExpression,
      anchorAt: Number(row.anchor_at),
      nextAt: Number(row.next_at),
    }));
  }

  count(uid: number | undefined, includeDisabled = true): number {
    const { where, bindings } = makeFilter(uid, true);
    const count = (query: string, ...more: number[]) => Number(this.#sql.get(query, ...bindings, ...more)?.count);
    const all = count(`SELECT count(*) AS count FROM schedules ${where}`);
    if (includeDisabled) return all;
    // Disabled ones are among those that never run: so the rows of the others are not read, only their index.
    const andDisabled = `${where === "" ? "WHERE" : "AND"} sort_at = ? AND enabled = 0`;
    return all - count(`SELECT count(*) AS count FROM schedules ${where} ${andDisabled}`, NEVER);
  }

  add(schedule: Omit<ScheduleRow, "id">): ScheduleRow {
    const { uid, creator, createdAt, ...rest } = schedule;
    const id = this.#crypto.uuid();
    const columns = toColumns(rest);
    const names = ["schedule_id", "uid", "creator", "created_at", ...Object.keys(columns)];
    this.#sql.run(
      `INSERT INTO schedules (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
      id,
      uid,
      JSON.stringify(creator),
      createdAt,
      ...Object.values(columns),
    );
    return { id, ...schedule };
  }

  update(id: string, change: ScheduleChange): void {
    const columns = toColumns(change);
    const names = Object.keys(columns);
    this.#sql.run(
      `UPDATE schedules SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE schedule_id = ?`,
      ...Object.values(columns),
      id,
    );
  }

  remove(id: string): boolean {
    return this.#sql.run("DELETE FROM schedules WHERE schedule_id = ?", id) > 0;
  }

  /** What is due joins the queues of its users. Returns false if there may be more. */
  queueDue(now: number, limit: number): boolean {
    const due = "SELECT rowid FROM schedules WHERE wake_at <= ?1 AND queued_at IS NULL ORDER BY wake_at LIMIT ?2";
    return this.#sql.run(`UPDATE schedules SET queued_at = ?1 WHERE rowid IN (${due})`, now, limit) < limit;
  }

  /** The users who have a queue, and when the first in it is due. Reads no more than there are such users, however long their queues are. */
  listQueues(): { uid: number; wakeAt: number }[] {
    const inQueue = "wake_at IS NOT NULL AND queued_at IS NOT NULL";
    const next = (after: string) => `SELECT min(uid) FROM schedules WHERE ${inQueue} AND uid > ${after}`;
    const query = `WITH RECURSIVE users (uid) AS (${next("-1")} UNION ALL SELECT (${next("users.uid")}) FROM users WHERE users.uid IS NOT NULL)
      SELECT uid, (SELECT min(wake_at) FROM schedules WHERE ${inQueue} AND uid = users.uid) AS wake_at FROM users WHERE uid IS NOT NULL`;
    return this.#sql.all(query).map((row) => ({ uid: Number(row.uid), wakeAt: Number(row.wake_at) }));
  }

  /** What is due in the queue of a user, the longest due first. */
  listQueued(uid: number, now: number, limit: number): ScheduleRow[] {
    const where = "uid = ? AND wake_at <= ? AND wake_at IS NOT NULL AND queued_at IS NOT NULL";
    return this.#sql.all(`SELECT * FROM schedules WHERE ${where} ORDER BY wake_at, schedule_id LIMIT ?`, uid, now, limit).map(fromRow);
  }

  /** What the targets of a user's schedules are together. */
  sizeOf(uid: number): number {
    return Number(this.#sql.get("SELECT sum(target_size) AS size FROM schedules WHERE uid = ?", uid)?.size ?? 0);
  }

  /** The ids of a user's schedules that ended before and may have processes to spare, the oldest first. */
  listWithSpares(uid: number, endedBefore: number, limit: number): string[] {
    const query = "SELECT schedule_id FROM schedules WHERE uid = ? AND ended_at < ? AND has_spares = 1 AND run_id IS NULL";
    return this.#sql.all(`${query} ORDER BY ended_at LIMIT ?`, uid, endedBefore, limit).map((row) => String(row.schedule_id));
  }

  /** Removes schedules that ended long ago, and returns their ids. */
  removeEnded(before: number, limit: number): string[] {
    const ids = this.#sql
      .all("SELECT schedule_id FROM schedules WHERE ended_at < ? AND run_id IS NULL ORDER BY ended_at LIMIT ?", before, limit)
      .map((row) => String(row.schedule_id));
    for (const id of ids) this.remove(id);
    return ids;
  }

  firstEndedAt(): number | null {
    const first = this.#sql.get("SELECT min(ended_at) AS at FROM schedules WHERE ended_at IS NOT NULL")?.at;
    return first == null ? null : Number(first);
  }

  /** When the next one is due that is in no queue. */
  nextWakeAt(): number | null {
    const due = this.#sql.get("SELECT min(wake_at) AS due FROM schedules WHERE wake_at IS NOT NULL AND queued_at IS NULL")?.due;
    return due == null ? null : Number(due);
  }

  /** Those whose next time was computed later than `now`. */
  listCountedAfter(now: number, limit: number): ScheduleRow[] {
    return this.#sql
      .all("SELECT * FROM schedules WHERE counted_at > ? AND enabled = 1 AND next_at IS NOT NULL LIMIT ?", now, limit)
      .map(fromRow);
  }
}

function makeFilter(uid: number | undefined, includeDisabled: boolean): { where: string; bindings: number[] } {
  const conditions = [...(uid === undefined ? [] : ["uid = ?"]), ...(includeDisabled ? [] : ["enabled = 1"])];
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, bindings: uid === undefined ? [] : [uid] };
}

const COLUMNS: Readonly<Record<keyof ScheduleChange, string>> = {
  name: "name",
  description: "description",
  enabled: "enabled",
  expression: "expression",
  target: "target",
  targetBy: "target_by",
  catchUp: "catch_up",
  notify: "notify",
  anchorAt: "anchor_at",
  nextAt: "next_at",
  wakeAt: "wake_at",
  queuedAt: "queued_at",
  countedAt: "counted_at",
  endedAt: "ended_at",
  hasSpares: "has_spares",
  runId: "run_id",
  runningAt: "running_at",
  lastRunAt: "last_run_at",
  lastStatus: "last_status",
  lastError: "last_error",
  lastMs: "last_ms",
  runCount: "run_count",
  failures: "failures",
  pausedBecause: "paused_because",
  updatedAt: "updated_at",
};

function toColumns(change: ScheduleChange): Record<string, SqlValue> {
  const columns: Record<string, SqlValue> = {};
  for (const [field, value] of Object.entries(change)) {
    const column = COLUMNS[field as keyof ScheduleChange];
    columns[column] = typeof value === "boolean" ? Number(value) : isPlain(value) ? value : JSON.stringify(value);
  }
  if (change.nextAt !== undefined) {
    columns.sort_at = change.nextAt ?? NEVER;
    columns.queued_at = null;
  }
  if (change.target !== undefined) columns.target_size = sizeOf(change.target);
  return columns;
}

/** Whether it runs only once. */
export function isOnce({ kind }: ScheduleExpression): boolean {
  return kind === "at" || kind === "after";
}

/** What a target counts for its user. */
export function sizeOf(target: ScheduleTarget): number {
  return JSON.stringify(target).length;
}

function isPlain(value: unknown): value is string | number | null {
  return value === null || typeof value === "string" || typeof value === "number";
}

function fromRow(row: SqlRow): ScheduleRow {
  return {
    id: String(row.schedule_id),
    uid: Number(row.uid),
    creator: JSON.parse(String(row.creator)) as Principal,
    name: String(row.name),
    description: row.description as string | null,
    enabled: row.enabled === 1,
    expression: JSON.parse(String(row.expression)) as ScheduleExpression,
    target: JSON.parse(String(row.target)) as ScheduleTarget,
    targetBy: JSON.parse(String(row.target_by)) as Principal,
    catchUp: row.catch_up as CatchUp,
    notify: row.notify as ScheduleNotify,
    anchorAt: Number(row.anchor_at),
    nextAt: row.next_at as number | null,
    wakeAt: row.wake_at as number | null,
    queuedAt: row.queued_at as number | null,
    countedAt: Number(row.counted_at),
    endedAt: row.ended_at as number | null,
    hasSpares: row.has_spares === 1,
    runId: row.run_id as string | null,
    runningAt: row.running_at as number | null,
    lastRunAt: row.last_run_at as number | null,
    lastStatus: row.last_status as LastStatus | null,
    lastError: row.last_error as string | null,
    lastMs: row.last_ms as number | null,
    runCount: Number(row.run_count),
    failures: Number(row.failures),
    pausedBecause: row.paused_because as string | null,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}
