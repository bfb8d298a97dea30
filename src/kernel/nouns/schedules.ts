// Schedules: when they run, what they do, and how their last run went. Owns schedules. Times are computed elsewhere (src/schedules);
// `nextAt` is the time a schedule runs for next, `wakeAt` when the kernel looks at it again.

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
  catchUp: CatchUp;
  notify: ScheduleNotify;
  /** The time that `after` and `every` count from. */
  anchorAt: number;
  nextAt: number | null;
  wakeAt: number | null;
  /** When `nextAt` was computed. If that is later than now, the clock was set back. */
  countedAt: number;
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
  "find" | "sizeOf" | "requireUsable" | "list" | "listComing" | "count" | "listDue" | "listCountedAfter" | "nextWakeAt"
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

  /** The kernel must look at them now; the longest due first. */
  listDue(now: number, limit: number, uid?: number): ScheduleRow[] {
    const whose = uid === undefined ? "" : "AND uid = ?3";
    return this.#sql
      .all(
        `SELECT * FROM schedules WHERE wake_at <= ?1 ${whose} ORDER BY wake_at, next_at, schedule_id LIMIT ?2`,
        now,
        limit,
        ...(uid === undefined ? [] : [uid]),
      )
      .map(fromRow);
  }

  /** What the targets of a user's schedules are together. */
  sizeOf(uid: number): number {
    return Number(this.#sql.get("SELECT sum(target_size) AS size FROM schedules WHERE uid = ?", uid)?.size ?? 0);
  }

  /** The ids of a user's schedules of one run that ended before, the oldest first. */
  listOver(uid: number, before: number, limit: number): string[] {
    const query = "SELECT schedule_id FROM schedules WHERE uid = ? AND is_once = 1 AND enabled = 0 AND last_run_at < ? AND run_id IS NULL";
    return this.#sql.all(`${query} ORDER BY last_run_at LIMIT ?`, uid, before, limit).map((row) => String(row.schedule_id));
  }

  /** Removes schedules of one run that ended long ago, and returns their ids. */
  removeOver(before: number, limit: number): string[] {
    const which = "is_once = 1 AND enabled = 0 AND last_run_at < ? AND run_id IS NULL";
    const ids = this.#sql
      .all(`SELECT schedule_id FROM schedules WHERE ${which} ORDER BY last_run_at LIMIT ?`, before, limit)
      .map((row) => String(row.schedule_id));
    for (const id of ids) this.remove(id);
    return ids;
  }

  nextOverAt(): number | null {
    const first = this.#sql.get("SELECT min(last_run_at) AS at FROM schedules WHERE is_once = 1 AND enabled = 0")?.at;
    return first == null ? null : Number(first);
  }

  nextWakeAt(): number | null {
    const due = this.#sql.get("SELECT min(wake_at) AS due FROM schedules WHERE wake_at IS NOT NULL")?.due;
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
  catchUp: "catch_up",
  notify: "notify",
  anchorAt: "anchor_at",
  nextAt: "next_at",
  wakeAt: "wake_at",
  countedAt: "counted_at",
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
  if (change.nextAt !== undefined) columns.sort_at = change.nextAt ?? NEVER;
  if (change.expression !== undefined) columns.is_once = Number(isOnce(change.expression));
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
    catchUp: row.catch_up as CatchUp,
    notify: row.notify as ScheduleNotify,
    anchorAt: Number(row.anchor_at),
    nextAt: row.next_at as number | null,
    wakeAt: row.wake_at as number | null,
    countedAt: Number(row.counted_at),
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
