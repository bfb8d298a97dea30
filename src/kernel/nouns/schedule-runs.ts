// The runs of schedules: a ledger in which a run is written before its effect, so that each time of a schedule runs at most once. Owns
// schedule_runs. A run is `starting` until its effect is known to have happened, and `running` until the process has finished.

import { fail } from "../../lib/sys-error.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { Principal, ScheduleRun, ScheduleTarget } from "../../protocol/schedule-records.ts";

export type RunState = "starting" | "running" | "ok" | "error" | "skipped";

export type ScheduleRunRow = Omit<ScheduleRun, "status" | "dueAtMs"> & {
  uid: number;
  dueAt: number;
  isForced: boolean;
  state: RunState;
  target: ScheduleTarget | null;
  targetBy: Principal | null;
  madeOf: string | null;
  /** When its start is tried again. */
  retryAt: number;
};

export type ScheduleRunReads = Pick<
  ScheduleRuns,
  "get" | "requireOf" | "list" | "listStarting" | "nextRetryAt" | "countStarts" | "findStartOfNewest"
>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** What is older is removed, except the newest runs of each schedule, and runs that are not finished. */
const KEEP_MS = DAY_MS;
const KEEP_COUNT = 100;
const PRUNE_BATCH = 1_000;
/** How many schedules one step of a prune looks at. */
const PRUNE_SCHEDULES = 200;
const IS_OPEN = "state IN ('starting', 'running')";

export class ScheduleRuns {
  readonly #sql: Sql;
  /** When the newest run of the last prune had started: what is left of those is kept. */
  #prunedUntil = 0;
  /** The prune that is under way: the last schedule that it has done, and the age of what it removes. */
  #pruning: { doneTo: string; until: number } | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(runId: string): ScheduleRunRow | undefined {
    const row = this.#sql.get("SELECT * FROM schedule_runs WHERE run_id = ?", runId);
    return row && fromRow(row);
  }

  requireOf(scheduleId: string, runId: string): ScheduleRunRow {
    const found = this.get(runId);
    return found?.scheduleId === scheduleId ? found : fail(404, `Run not found: ${runId}`);
  }

  /** Newest first. `before` is the last run of the page before. */
  list(
    scheduleId: string,
    { before, limit }: { before: Pick<ScheduleRunRow, "startedAtMs" | "runId"> | undefined; limit: number },
  ): ScheduleRunRow[] {
    const order = "ORDER BY started_at DESC, run_id DESC LIMIT ?2";
    const rows =
      before === undefined
        ? this.#sql.all(`SELECT * FROM schedule_runs WHERE schedule_id = ?1 ${order}`, scheduleId, limit)
        : this.#sql.all(
            `SELECT * FROM schedule_runs WHERE schedule_id = ?1 AND (started_at, run_id) < (?3, ?4) ${order}`,
            scheduleId,
            limit,
            before.startedAtMs,
            before.runId,
          );
    return rows.map(fromRow);
  }

  /** False if this time has run before. A time that was skipped has not, and after the clock was set back it may come again. */
  add(run: ScheduleRunRow): boolean {
    if (!run.isForced && run.state !== "skipped") {
      const skipped = "schedule_id = ? AND due_at = ? AND is_forced = 0 AND state = 'skipped'";
      this.#sql.run(`DELETE FROM schedule_runs WHERE ${skipped}`, run.scheduleId, run.dueAt);
    }
    const added = this.#sql.run(
      "INSERT OR IGNORE INTO schedule_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      run.runId,
      run.scheduleId,
      run.uid,
      run.dueAt,
      Number(run.isForced),
      run.startedAtMs,
      run.finishedAtMs,
      run.state,
      run.error,
      run.summary,
      run.pid,
      run.conversationId,
      run.missed,
      run.target === null ? null : JSON.stringify(run.target),
      run.targetBy === null ? null : JSON.stringify(run.targetBy),
      run.madeOf,
      run.retryAt,
      run.refusedCalls,
    );
    return added > 0;
  }

  addRefusedCall(runId: string): void {
    this.#sql.run("UPDATE schedule_runs SET refused_calls = refused_calls + 1 WHERE run_id = ?", runId);
  }

  /** The times after `after` that have run. */
  listTimes(scheduleId: string, after: number): Set<number> {
    const query = "SELECT due_at FROM schedule_runs WHERE schedule_id = ? AND is_forced = 0 AND due_at > ? AND state <> 'skipped'";
    return new Set(this.#sql.all(query, scheduleId, after).map((row) => Number(row.due_at)));
  }

  /** How many runs a user has started since. */
  countStarts(uid: number, { since, now }: { since: number; now: number }): number {
    const query = "SELECT count(*) AS count FROM schedule_runs WHERE uid = ? AND started_at > ? AND started_at <= ? AND state <> 'skipped'";
    return Number(this.#sql.get(query, uid, since, now)?.count);
  }

  /** When a user started the first of their `count` newest runs; null if they have started fewer since. */
  findStartOfNewest(uid: number, count: number, { since, now }: { since: number; now: number }): number | null {
    const row = this.#sql.get(
      `SELECT started_at AS at FROM schedule_runs WHERE uid = ? AND started_at > ? AND started_at <= ? AND state <> 'skipped'
       ORDER BY started_at DESC LIMIT 1 OFFSET ?`,
      uid,
      since,
      // After a clock was set back, later ones are no measure.
      now,
      count - 1,
    );
    return row === undefined ? null : Number(row.at);
  }

  /** Its process is another one: the one before is somebody else's now, and no run of the schedule uses it again. */
  setPid(runId: string, pid: string): void {
    this.#sql.run(
      `UPDATE schedule_runs SET made_of = NULL
       WHERE run_id <> ?1 AND (schedule_id, pid) = (SELECT schedule_id, pid FROM schedule_runs WHERE run_id = ?1)`,
      runId,
    );
    this.#sql.run("UPDATE schedule_runs SET pid = ? WHERE run_id = ?", pid, runId);
  }

  /** No run of the schedule uses this process again: it is another one's. */
  releaseProcess(scheduleId: string, pid: string): void {
    this.#sql.run("UPDATE schedule_runs SET made_of = NULL WHERE schedule_id = ? AND pid = ?", scheduleId, pid);
  }

  /** Whether it has processes that may be used again. */
  hasProcesses(scheduleId: string): boolean {
    return this.#sql.get("SELECT 1 FROM schedule_runs WHERE schedule_id = ? AND made_of IS NOT NULL LIMIT 1", scheduleId) !== undefined;
  }

  /** The effect has happened. */
  markRunning(runId: string, pid: string, conversationId: string | null): void {
    this.#sql.run(
      "UPDATE schedule_runs SET state = CASE state WHEN 'starting' THEN 'running' ELSE state END, pid = ?2, conversation_id = ?3, target = NULL, target_by = NULL WHERE run_id = ?1",
      runId,
      pid,
      conversationId,
    );
  }

  /** False if it was finished before. */
  finish(runId: string, state: "ok" | "error", { error, summary }: { error: string | null; summary: string | null }, now: number): boolean {
    return (
      this.#sql.run(
        `UPDATE schedule_runs SET state = ?2, error = ?3, summary = ?4, finished_at = ?5, target = NULL, target_by = NULL WHERE run_id = ?1 AND ${IS_OPEN}`,
        runId,
        state,
        error,
        summary,
        now,
      ) > 0
    );
  }

  /** One more time was skipped while the same run was still at work. False if none was before. */
  addSkip(scheduleId: string, since: number, now: number): boolean {
    return (
      this.#sql.run(
        `UPDATE schedule_runs SET missed = missed + 1, finished_at = ?3
         WHERE run_id = (SELECT run_id FROM schedule_runs WHERE schedule_id = ?1 ORDER BY started_at DESC, run_id DESC LIMIT 1)
           AND state = 'skipped' AND started_at >= ?2`,
        scheduleId,
        since,
        now,
      ) > 0
    );
  }

  /** The processes of its newest runs, made of the same, the one that was used longest ago first. Those that are at work are left out. */
  listProcesses(scheduleId: string, madeOf: string): string[] {
    const rows = this.#sql.all(
      "SELECT pid, made_of, finished_at FROM schedule_runs WHERE schedule_id = ? AND pid IS NOT NULL ORDER BY started_at DESC, run_id DESC LIMIT ?",
      scheduleId,
      KEEP_COUNT,
    );
    const found = new Map<string, boolean>();
    for (const { pid, made_of, finished_at } of rows)
      if (!found.has(String(pid))) found.set(String(pid), made_of === madeOf && finished_at !== null);
    return [...found].flatMap(([pid, isFree]) => (isFree ? [pid] : [])).toReversed();
  }

  /** Runs whose effect may not have happened and that are to be tried again by now, or later than `latest`: then the clock was set back. */
  listStarting({ now, latest }: { now: number; latest: number }, limit: number): ScheduleRunRow[] {
    const query = "SELECT * FROM schedule_runs WHERE state = 'starting' AND (retry_at <= ? OR retry_at > ?) ORDER BY retry_at LIMIT ?";
    return this.#sql.all(query, now, latest, limit).map(fromRow);
  }

  nextRetryAt(): number | null {
    const first = this.#sql.get("SELECT min(retry_at) AS at FROM schedule_runs WHERE state = 'starting'")?.at;
    return first == null ? null : Number(first);
  }

  setRetryAt(runId: string, at: number): void {
    this.#sql.run("UPDATE schedule_runs SET retry_at = ? WHERE run_id = ? AND state = 'starting'", at, runId);
  }

  /** All starts are tried again now. */
  retryAll(now: number): void {
    this.#sql.run("UPDATE schedule_runs SET retry_at = ? WHERE state = 'starting'", now);
  }

  /** The runs that a process works on. */
  listRunning(pid: string): ScheduleRunRow[] {
    return this.#sql.all("SELECT * FROM schedule_runs WHERE pid = ? AND state = 'running'", pid).map(fromRow);
  }

  removeSchedule(scheduleId: string): void {
    this.#sql.run("DELETE FROM schedule_runs WHERE schedule_id = ?", scheduleId);
  }

  /**
   * Goes through the schedules, a part of them at a time, so that nobody waits for long. Returns false if there are more. What newer runs
   * push out of a schedule's newest is removed when those are old themselves.
   */
  prune(now: number): boolean {
    if (this.#pruning === null) {
      const until = now - KEEP_MS;
      const newestOld = this.#sql.get("SELECT max(started_at) AS at FROM schedule_runs WHERE started_at < ?", until)?.at;
      if (newestOld == null || Number(newestOld) <= this.#prunedUntil) return true;
      this.#pruning = { doneTo: "", until };
    }
    const { until } = this.#pruning;
    let { doneTo } = this.#pruning;
    for (let count = 0, removed = 0; count < PRUNE_SCHEDULES && removed < PRUNE_BATCH; count++) {
      const id = this.#sql.get("SELECT min(schedule_id) AS id FROM schedule_runs WHERE schedule_id > ?", doneTo)?.id;
      if (id == null) {
        this.#pruning = null;
        this.#prunedUntil = Math.min(until, this.#newestAt() ?? 0);
        return true;
      }
      const removedHere = this.#sql.run(PRUNE_SCHEDULE, id, until, PRUNE_BATCH);
      if (removedHere < PRUNE_BATCH) doneTo = String(id);
      removed += removedHere;
    }
    this.#pruning = { doneTo, until };
    return false;
  }

  nextPruneAt(): number | null {
    const newest = this.#newestAt();
    return newest === null || newest <= this.#prunedUntil ? null : newest + KEEP_MS;
  }

  #newestAt(): number | null {
    const newest = this.#sql.get("SELECT max(started_at) AS at FROM schedule_runs")?.at;
    return newest == null ? null : Number(newest);
  }
}

const PRUNE_SCHEDULE = `DELETE FROM schedule_runs WHERE rowid IN (
  SELECT rowid FROM schedule_runs WHERE schedule_id = ?1 AND started_at < ?2 AND NOT ${IS_OPEN} AND started_at < coalesce(
    (SELECT started_at FROM schedule_runs WHERE schedule_id = ?1 ORDER BY started_at DESC LIMIT 1 OFFSET ${KEEP_COUNT - 1}), 0)
  ORDER BY started_at LIMIT ?3)`;

function fromRow(row: SqlRow): ScheduleRunRow {
  return {
    runId: String(row.run_id),
    scheduleId: String(row.schedule_id),
    uid: Number(row.uid),
    dueAt: Number(row.due_at),
    isForced: row.is_forced === 1,
    startedAtMs: Number(row.started_at),
    finishedAtMs: row.finished_at as number | null,
    state: row.state as RunState,
    error: row.error as string | null,
    summary: row.summary as string | null,
    pid: row.pid as string | null,
    conversationId: row.conversation_id as string | null,
    missed: Number(row.missed),
    refusedCalls: Number(row.refused_calls),
    target: row.target === null ? null : (JSON.parse(String(row.target)) as ScheduleTarget),
    targetBy: row.target_by === null ? null : (JSON.parse(String(row.target_by)) as Principal),
    madeOf: row.made_of as string | null,
    retryAt: Number(row.retry_at),
  };
}
