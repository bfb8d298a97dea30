// Runs schedules when they are due. A run is in the ledger, durably, before its effect (plan.ts); the effect is made repeatable by ids
// from the ledger, so a start that a crash interrupted is done again without happening twice. A run ends with the run of the process
// that it started (outcome.ts). Rights are those of the owner at the time of the run.

import { fail, SysError } from "../../lib/sys-error.ts";
import { StorageError } from "../../ports/sql.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import type { ScheduleTarget } from "../../protocol/schedule-records.ts";
import type { Agents } from "../agents/agents.ts";
import { makeUserCaller } from "../agents/process-caller.ts";
import { toSysError } from "../failure.ts";
import type { Shares } from "../fairness/shares.ts";
import type { Gate } from "../gate.ts";
import type { ScheduleRunRow } from "../nouns/schedule-runs.ts";
import type { ScheduleRow } from "../nouns/schedules.ts";
import { earliestOf, type Part } from "../part.ts";
import type { Store } from "../store.ts";
import { DEFAULT_PROFILE } from "./changes.ts";
import { finishRun, processRunId } from "./outcome.ts";
import { planForcedRun, planRun, recountSchedule } from "./plan.ts";

/** What sched.run reports about a schedule. */
export type RunReport = {
  scheduleId: string;
  status: "ok" | "error" | "skipped";
  error?: string;
  summary?: string;
  durationMs: number;
  nextRunAtMs: number | null;
};

/** How many schedules one wake looks at; the next wake continues at once. */
const BATCH = 50;
/** A clock that is set back by less counts as the same. */
const BACK_MS = 5_000;
const RETRY_MS = 5_000;
const RECOUNT_BATCH = 1_000;
/** If the gateway is lost during a start, it is woken again after this; only Cloudflare needs that. */
const UNDER_WAY_MS = 30_000;
/** How long starts are retried while storage or the process cannot be reached. */
const RETRY_FOR_MS = 60 * 60 * 1000;
/** The same for a conflict, which ends soon or stays. */
const CONFLICT_MS = 60_000;
/** Rough kernel time to start a run. */
const START_MS = 2;

export class Scheduler implements Part {
  readonly #store: Store;
  readonly #gate: Gate;
  readonly #agents: Agents;
  readonly #shares: Shares;
  /** Runs that are being started, by id. */
  readonly #starts = new Map<string, Promise<void>>();
  /** When runs that could not be started are tried again; null if there are none. */
  #retryAt: number | null = null;
  /** Nothing is planned before this time, because storage has failed. */
  #planAt = 0;

  constructor(store: Store, { gate, agents, shares }: { gate: Gate; agents: Agents; shares: Shares }) {
    this.#store = store;
    this.#gate = gate;
    this.#agents = agents;
    this.#shares = shares;
  }

  /** Start-up is recovery: starts that a crash interrupted are done again. */
  begin(): void {
    this.#recount();
    this.#resumeStarts();
  }

  onRollback(): void {
    this.#planAt = this.#store.reads.now + RETRY_MS;
    this.#retryLater();
  }

  onWake(now: number): void {
    // The clock was set back.
    if (this.#planAt > now + RETRY_MS) this.#planAt = 0;
    if (this.#retryAt !== null && this.#retryAt > now + RETRY_MS) this.#retryAt = now;
    this.#recount();
    if (this.#planAt <= now) this.#startDue(now);
    if ((this.#retryAt ?? Infinity) <= now) this.#resumeStarts();
  }

  nextDueAt(): number | null {
    const wakeAt = this.#store.reads.schedules.nextWakeAt();
    const underWayAt = this.#starts.size === 0 ? null : this.#store.reads.now + UNDER_WAY_MS;
    return earliestOf([wakeAt === null ? null : Math.max(wakeAt, this.#planAt), this.#retryAt, underWayAt]);
  }

  /** Runs one schedule now, whether it is due or not. Its next time stays as it is. */
  async force(caller: Caller, id: string): Promise<RunReport> {
    const startedAt = this.#store.reads.now;
    const run = await this.#store.commit((nouns) => planForcedRun(nouns, nouns.schedules.requireUsable(caller, id), this.#makeId));
    if (run === null) return this.#report(id, null, startedAt, "its last run is still at work");
    await this.#start(run);
    return this.#report(id, run, startedAt);
  }

  /** Runs what is due: one schedule, or all of the caller; of everybody for root. The kernel does the same by itself. */
  async runDue(caller: Caller, id: string | undefined): Promise<RunReport[]> {
    const { schedules, now } = this.#store.reads;
    if (id !== undefined) {
      const { enabled, nextAt } = schedules.requireUsable(caller, id);
      if (!enabled) return [this.#report(id, null, now, "the schedule is disabled")];
      if (nextAt === null || nextAt > now) return [this.#report(id, null, now, "it is not due yet")];
    }
    const whose = isRoot(caller) ? undefined : caller.uid;
    const due = id === undefined ? schedules.listDue(now, BATCH, whose) : [schedules.requireUsable(caller, id)];
    const runs = await this.#plan(due);
    await Promise.all(runs.map((run) => this.#start(run)));
    return due.map(({ id }) => {
      const run = runs.find(({ scheduleId }) => scheduleId === id) ?? null;
      const after = this.#store.reads.schedules.find(id);
      const why = after?.lastStatus === "skipped" && (after.nextAt === null || after.nextAt > now) ? after.lastError : null;
      return this.#report(id, run, now, why ?? "it has to wait");
    });
  }

  readonly #makeId = (): string => this.#store.ports.crypto.uuid();

  #startDue(now: number): void {
    const due = this.#store.reads.schedules.listDue(now, BATCH);
    if (due.length === 0) return;
    void this.#plan(due).then(
      (runs) => runs.forEach((run) => void this.#start(run)),
      (error: unknown) => {
        this.#store.ports.log.error("schedules that are due could not be started", { error: String(error) });
        this.#planAt = this.#store.reads.now + RETRY_MS;
        this.#retryLater();
      },
    );
  }

  /** Resolves when the runs are durable. */
  #plan(schedules: readonly ScheduleRow[]): Promise<ScheduleRunRow[]> {
    return this.#store.commit((nouns) =>
      schedules.flatMap(({ id }) => {
        // Read again: an earlier one may have changed it.
        const schedule = nouns.schedules.find(id);
        const run = schedule === undefined ? null : planRun(nouns, schedule, this.#makeId);
        return run === null ? [] : [run];
      }),
    );
  }

  #resumeStarts(): void {
    this.#retryAt = null;
    const runs = this.#store.reads.scheduleRuns.listStarting(BATCH);
    for (const run of runs) void this.#start(run);
    if (runs.length === BATCH) this.#retryLater();
  }

  #start(run: ScheduleRunRow): Promise<void> {
    const known = this.#starts.get(run.runId);
    if (known !== undefined) return known;
    const starting = this.#startOnce(run).finally(() => this.#starts.delete(run.runId));
    this.#starts.set(run.runId, starting);
    return starting;
  }

  async #startOnce(run: ScheduleRunRow): Promise<void> {
    try {
      // A run that was read from the ledger may have been written a moment ago.
      await this.#store.durable();
      await this.#shares.waitForTurn(run.uid, START_MS);
      const schedule = this.#store.reads.schedules.find(run.scheduleId) ?? fail(404, "The schedule was removed");
      const { pid, conversationId } = await this.#doTarget(schedule, run);
      await this.#store.commit(({ scheduleRuns }) => scheduleRuns.markRunning(run.runId, pid, conversationId));
    } catch (error) {
      if (isTemporary(error, this.#store.reads.now - run.startedAtMs)) return this.#retryLater();
      await this.#recordFailure(run, error);
    }
  }

  async #doTarget(schedule: ScheduleRow, run: ScheduleRunRow): Promise<{ pid: string; conversationId: string | null }> {
    const { uid, name } = schedule;
    // As it was when the run was planned.
    const target = run.target ?? schedule.target;
    const caller = makeUserCaller(this.#store.reads, uid);
    this.#gate.authorize(caller, target.kind === "process.spawn" ? "proc.spawn" : "proc.send");
    const runId = processRunId(run.runId);
    if (target.kind === "process.spawn") {
      const { profile = DEFAULT_PROFILE, label = name, prompt, ...rest } = target;
      const args = { profile, label, ...rest };
      const started = await this.#agents.spawnOnce(caller, args, { pid: run.pid!, runId, prompt });
      if (started !== null) return started;
      // Somebody has talked to the process since it was used: this run gets another.
      const pid = this.#makeId();
      await this.#store.commit(({ scheduleRuns }) => scheduleRuns.setPid(run.runId, pid));
      return (await this.#agents.spawnOnce(caller, args, { pid, runId, prompt })) ?? fail(503, "The process is in use: try again");
    }
    const { pid, conversationId } = target;
    await this.#agents.sendOnce(caller, pid, {
      conversationId,
      text: describeEvent(schedule, target, run),
      runId,
      reason: "schedule.event",
    });
    return { pid, conversationId: conversationId ?? null };
  }

  async #recordFailure(run: ScheduleRunRow, error: unknown): Promise<void> {
    const { ports } = this.#store;
    const { message } = toSysError(error, () => ports.log.reportIncident(ports.crypto.uuid(), { call: "schedule", uid: run.uid }, error));
    try {
      await this.#store.commit((nouns) => finishRun(nouns, run, { state: "error", error: message, isFault: true }));
    } catch {
      this.#retryLater();
    }
  }

  #retryLater(): void {
    this.#retryAt = this.#store.reads.now + RETRY_MS;
    this.#store.wakeBy(this.#retryAt);
  }

  /** Times that were computed from a later clock may be far away: the clock was set back. If storage fails, the next wake tries again. */
  #recount(): void {
    const { now, schedules } = this.#store.reads;
    const stale = schedules.listCountedAfter(now + BACK_MS, RECOUNT_BATCH);
    if (stale.length === 0) return;
    this.#store.attempt(() =>
      this.#store.write((nouns) => {
        for (const schedule of stale) recountSchedule(nouns, schedule);
      }),
    );
    if (stale.length === RECOUNT_BATCH) this.#retryLater();
  }

  #report(id: string, run: ScheduleRunRow | null, startedAt: number, why?: string): RunReport {
    const { schedules, scheduleRuns, now } = this.#store.reads;
    const base = { scheduleId: id, durationMs: Math.max(0, now - startedAt), nextRunAtMs: schedules.find(id)?.nextAt ?? null };
    if (run === null) return { ...base, status: "skipped", ...(why === undefined ? {} : { error: why }) };
    const { state = "error", error = "The schedule was removed", pid = null, summary = null } = scheduleRuns.get(run.runId) ?? {};
    if (state === "error") return { ...base, status: "error", error: error ?? "It failed" };
    if (state === "starting") return { ...base, status: "error", error: "It could not be started yet, and will be tried again" };
    const isSpawn = schedules.find(id)?.target.kind !== "process.event";
    return { ...base, status: "ok", summary: summary ?? (isSpawn ? `started process ${pid}` : `delivered to process ${pid}`) };
  }
}

/** Storage is full, the process cannot be reached now, or an earlier try is still emptying it. */
function isTemporary(error: unknown, ageMs: number): boolean {
  if (error instanceof StorageError) return ageMs < RETRY_FOR_MS;
  if (!(error instanceof SysError)) return false;
  return error.code === 409 ? ageMs < CONFLICT_MS : (error.code === 503 || error.code === 507) && ageMs < RETRY_FOR_MS;
}

function describeEvent(
  { name, creator }: ScheduleRow,
  { message, data }: Extract<ScheduleTarget, { kind: "process.event" }>,
  run: ScheduleRunRow,
): string {
  const due = run.isForced ? [] : [`Scheduled for: ${new Date(run.dueAt).toISOString()}.`];
  const maker = creator.kind === "process" ? [`It was made by process ${creator.pid}.`] : [];
  const lines = [
    `[process event: schedule.event] Schedule "${name}" (${run.scheduleId}) has fired.`,
    ...maker,
    ...due,
    `Fired at: ${new Date(run.startedAtMs).toISOString()}.`,
    "",
    message,
  ];
  return [...lines, ...(data === undefined ? [] : ["", "```json", JSON.stringify(data), "```"])].join("\n");
}
