// Runs schedules when they are due. What is due joins the queue of its user, who plans it in turns of their share of the thread. A run is
// in the ledger, durably, before its effect (plan.ts); the effect is made repeatable by ids from the ledger, so a start that a crash
// interrupted is done again without happening twice. A run ends with the run of the process that it started (outcome.ts). Rights are
// those of the owner at the time of the run.

import { toHex } from "../../lib/hex.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import { StorageError } from "../../ports/sql.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ScheduleTarget } from "../../protocol/schedule-records.ts";
import type { Agents } from "../agents/agents.ts";
import { makeUserCaller } from "../agents/process-caller.ts";
import { toSysError } from "../failure.ts";
import type { Shares } from "../fairness/shares.ts";
import type { WriteContext } from "../context.ts";
import type { Gate } from "../gate.ts";
import type { ScheduleRunRow } from "../nouns/schedule-runs.ts";
import type { ScheduleRow } from "../nouns/schedules.ts";
import { earliestOf, type Part } from "../part.ts";
import type { Store } from "../store.ts";
import { DEFAULT_PROFILE } from "./changes.ts";
import { finishRun, processRunId } from "./outcome.ts";
import { findFreeStartAt, planDue, planForcedRun, planQueue, recountSchedule, UNDER_WAY_MS } from "./plan.ts";

/** What sched.run reports about a schedule. */
export type RunReport = {
  scheduleId: string;
  status: "ok" | "error" | "skipped";
  error?: string;
  summary?: string;
  durationMs: number;
  nextRunAtMs: number | null;
};

/** How many starts one wake tries again, and schedules one call runs; the next wake continues at once. */
const BATCH = 50;
/** How many schedules one wake moves into queues. */
const QUEUE_BATCH = 1_000;
/** How many schedules one turn of a user looks at. */
const TURN = 10;
/** Rough kernel time for that. */
const TURN_MS = 2;
/** A clock that is set back by less counts as the same. */
const BACK_MS = 5_000;
const RETRY_MS = 5_000;
const RECOUNT_BATCH = 1_000;
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
  /** Users who wait for a turn of their share to plan what is in their queue. */
  readonly #turns = new Set<number>();
  /** When a wake is needed for what an earlier one could not do; null if there is nothing. */
  #retryAt: number | null = null;
  /** Nothing is planned or started before this time, because storage has failed. */
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
    const { scheduleRuns, now } = this.#store.reads;
    if (scheduleRuns.nextRetryAt() === null) return;
    this.#store.attempt(() => {
      this.#store.write((nouns) => nouns.scheduleRuns.retryAll(now));
      this.#resumeStarts(now);
    });
  }

  onRollback(): void {
    this.#planLater();
  }

  onWake(now: number): void {
    // The clock was set back.
    if (this.#planAt > now + RETRY_MS) this.#planAt = 0;
    if (this.#retryAt !== null && (this.#retryAt <= now || this.#retryAt > now + RETRY_MS)) this.#retryAt = null;
    this.#recount();
    if (this.#planAt > now) return;
    this.#queueDue(now);
    this.#askForTurns(now);
    this.#resumeStarts(now);
  }

  nextDueAt(): number | null {
    const { schedules, scheduleRuns, now } = this.#store.reads;
    const queues = schedules.listQueues().map(({ uid, wakeAt }) => {
      // If the gateway is lost before the turn, it is woken for it.
      if (this.#turns.has(uid)) return now + UNDER_WAY_MS;
      return wakeAt > now ? wakeAt : (findFreeStartAt(this.#store.reads, uid) ?? now);
    });
    const dueAt = earliestOf([schedules.nextWakeAt(), scheduleRuns.nextRetryAt(), ...queues]);
    return earliestOf([dueAt === null ? null : Math.max(dueAt, this.#planAt), this.#retryAt]);
  }

  /** Runs one schedule now, whether it is due or not. Its next time stays as it is. Repeated with the same key it is the same run. */
  async force(caller: Caller, id: string, key: string | undefined): Promise<RunReport> {
    const startedAt = this.#store.reads.now;
    const run = await this.#store.commit((nouns) => {
      const schedule = nouns.schedules.requireUsable(caller, id);
      const runId = key === undefined ? this.#makeId() : this.#makeRunId(key);
      const known = nouns.scheduleRuns.get(runId);
      if (known === undefined) return planForcedRun(nouns, schedule, runId, this.#makeId);
      // As long as other calls remember a key.
      if (startedAt - known.startedAtMs >= LIMITS.idempotencyKeyMs) return planForcedRun(nouns, schedule, this.#makeId(), this.#makeId);
      return known.scheduleId === id ? known : fail(409, "This key was used for another request");
    });
    if (run === null) return this.#report(id, null, startedAt, "its last run is still at work");
    if (run.state !== "starting") return this.#report(id, run, startedAt);
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
    const { due, runs } = await this.#store.commit((nouns) => {
      const due = id === undefined ? listDueOf(nouns, caller) : [nouns.schedules.requireUsable(caller, id)];
      return { due, runs: due.flatMap((schedule) => planDue(nouns, schedule, this.#makeId) ?? []) };
    });
    await Promise.all(runs.map((run) => this.#start(run)));
    return due.map(({ id }) => {
      const run = runs.find(({ scheduleId }) => scheduleId === id) ?? null;
      const after = this.#store.reads.schedules.find(id);
      const why = after?.lastStatus === "skipped" && (after.nextAt === null || after.nextAt > now) ? after.lastError : null;
      return this.#report(id, run, now, why ?? "it has to wait");
    });
  }

  readonly #makeId = (): string => this.#store.ports.crypto.uuid();

  #makeRunId(key: string): string {
    return toHex(this.#store.ports.crypto.sha256(`sched.run/${key}`).subarray(0, 16));
  }

  #queueDue(now: number): void {
    if ((this.#store.reads.schedules.nextWakeAt() ?? Infinity) > now) return;
    this.#store.write(({ schedules }) => schedules.queueDue(now, QUEUE_BATCH));
  }

  /** Each user who may start runs plans them in a turn of their share. */
  #askForTurns(now: number): void {
    for (const { uid, wakeAt } of this.#store.reads.schedules.listQueues()) if (wakeAt <= now) this.#askForTurn(uid, false);
  }

  #askForTurn(uid: number, isNext: boolean): void {
    if (this.#turns.has(uid) || findFreeStartAt(this.#store.reads, uid) !== null) return;
    this.#turns.add(uid);
    const takeTurn = () => this.#takeTurn(uid);
    if (isNext) this.#shares.queue(uid, takeTurn, TURN_MS);
    else this.#shares.runOrQueue(uid, takeTurn, TURN_MS);
  }

  #takeTurn(uid: number): void {
    this.#turns.delete(uid);
    const { reads } = this.#store;
    if (this.#planAt > reads.now) return;
    void this.#plan(uid).then(
      (runs) => runs.forEach((run) => void this.#start(run)),
      (error: unknown) => {
        this.#store.ports.log.error("schedules that are due could not be started", { error: String(error) });
        this.#planLater();
      },
    );
    // What the turn has planned is in the rows already.
    if (this.#planAt <= reads.now && reads.schedules.listQueues().some((queue) => queue.uid === uid && queue.wakeAt <= reads.now))
      this.#askForTurn(uid, true);
    this.#store.wakeBy(this.nextDueAt());
  }

  /** Resolves when the runs are durable. */
  #plan(uid: number): Promise<ScheduleRunRow[]> {
    return this.#store.commit((nouns) => planQueue(nouns, uid, TURN, this.#makeId));
  }

  /** Starts again what is due for it. If the gateway is lost meanwhile, that is due again later. */
  #resumeStarts(now: number): void {
    const latest = now + UNDER_WAY_MS;
    const runs = this.#store.reads.scheduleRuns.listStarting({ now, latest }, BATCH);
    if (runs.length === 0) return;
    this.#store.write(({ scheduleRuns }) => runs.forEach(({ runId }) => scheduleRuns.setRetryAt(runId, latest)));
    for (const run of runs) void this.#start(run);
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
      if (isTemporary(error, this.#store.reads.now - run.startedAtMs)) return this.#retryStartLater(run);
      await this.#recordFailure(run, error);
    }
  }

  /** Each start has its own time, so that those that keep failing delay no others. */
  #retryStartLater({ runId }: ScheduleRunRow): void {
    const at = this.#store.reads.now + RETRY_MS;
    this.#store.attempt(() => this.#store.relaxed(({ scheduleRuns }) => scheduleRuns.setRetryAt(runId, at)));
    this.#store.wakeBy(at);
  }

  async #doTarget(schedule: ScheduleRow, run: ScheduleRunRow): Promise<{ pid: string; conversationId: string | null }> {
    const { uid, name } = schedule;
    // As it was when the run was planned.
    const target = run.target ?? schedule.target;
    const caller = makeUserCaller(this.#store.reads, uid);
    this.#gate.authorize(caller, target.kind === "process.spawn" ? "proc.spawn" : "proc.send");
    const runId = processRunId(run.runId);
    const startedBy = { kind: "schedule" as const, id: schedule.id, name };
    if (target.kind === "process.spawn") {
      const { profile = DEFAULT_PROFILE, label = name, prompt, ...rest } = target;
      const args = { profile, label, ...rest };
      const started = await this.#agents.spawnOnce(caller, args, { pid: run.pid!, runId, prompt, startedBy });
      if (started !== null) return started;
      // Somebody has talked to the process since it was used: this run gets another.
      const pid = this.#makeId();
      await this.#store.commit(({ scheduleRuns }) => scheduleRuns.setPid(run.runId, pid));
      return (
        (await this.#agents.spawnOnce(caller, args, { pid, runId, prompt, startedBy })) ?? fail(503, "The process is in use: try again")
      );
    }
    const { pid, conversationId } = target;
    await this.#agents.sendOnce(caller, pid, {
      conversationId,
      text: describeEvent(schedule, target, run),
      runId,
      reason: "schedule.event",
      startedBy,
    });
    return { pid, conversationId: conversationId ?? null };
  }

  async #recordFailure(run: ScheduleRunRow, error: unknown): Promise<void> {
    const { ports } = this.#store;
    const { message } = toSysError(error, () => ports.log.reportIncident(ports.crypto.uuid(), { call: "schedule", uid: run.uid }, error));
    try {
      await this.#store.commit((nouns) => finishRun(nouns, run, { state: "error", error: message, isFault: true }));
    } catch {
      this.#retryStartLater(run);
    }
  }

  #planLater(): void {
    this.#planAt = this.#store.reads.now + RETRY_MS;
    this.#retryLater();
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

/** What is due now of a user, of everybody for root, as far as one call runs it. */
function listDueOf({ schedules, now }: WriteContext, caller: Caller): ScheduleRow[] {
  schedules.queueDue(now, QUEUE_BATCH);
  const uids = isRoot(caller) ? schedules.listQueues().map(({ uid }) => uid) : [caller.uid];
  const due: ScheduleRow[] = [];
  for (const uid of uids) if (due.length < BATCH) due.push(...schedules.listQueued(uid, now, BATCH - due.length));
  return due;
}

/** Storage is full, the process cannot be reached now, or an earlier try is still emptying it. */
function isTemporary(error: unknown, ageMs: number): boolean {
  if (error instanceof StorageError) return ageMs < RETRY_FOR_MS;
  if (!(error instanceof SysError)) return false;
  return error.code === 409 ? ageMs < CONFLICT_MS : (error.code === 503 || error.code === 507) && ageMs < RETRY_FOR_MS;
}

function describeEvent(
  { name, targetBy: setBy }: ScheduleRow,
  { message, data }: Extract<ScheduleTarget, { kind: "process.event" }>,
  run: ScheduleRunRow,
): string {
  const due = run.isForced ? [] : [`Scheduled for: ${new Date(run.dueAt).toISOString()}.`];
  const author = run.targetBy ?? setBy;
  const maker = author.kind === "process" ? [`Its message is from process ${author.pid}.`] : [];
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
