// Runs: each is a message that must be answered. It waits, becomes active and ends, and its end is reported once, even if it was
// answered together with another run. Owns runs.

import type { ModelUsage } from "../../ports/models.ts";
import type { Sql, SqlRow, SqlValue } from "../../ports/sql.ts";
import type { BudgetScope } from "../loop/budget.ts";
import type { RunSettings } from "../../protocol/process-settings.ts";
import type { MessageContent } from "./history.ts";

export const WAITING_MAX = 100;

export type RunReason =
  | "assignment.autostart"
  | "proc.send"
  | "proc.ipc.deliver"
  | "signal.watch"
  | "ipc.reply"
  | "schedule.event"
  | "queue.promote";

export type RunOutcome = { status: "ok" | "error" | "aborted"; reason: string; text: string | null; error?: string; usage?: ModelUsage };

export type Run = {
  runId: string;
  conversationId: string;
  reason: RunReason;
  /** The message that is added when it begins; null once it has ended. */
  message: Extract<MessageContent, { role: "user" | "system" }> | null;
  /** What was set for this message only. */
  settings: RunSettings | null;
  state: "waiting" | "active" | "joined" | "ended";
  joinedTo: string | null;
  /** It waits until somebody resumes the queue. */
  isOnHold: boolean;
  leaseUntil: number;
  createdAt: number;
  startedAt: number | null;
  outcome: RunOutcome | null;
  /** How often its history was compacted to make room. */
  compactions: number;
  /** The open question whether it may exceed its budget. */
  budgetRequest: BudgetRequest | null;
  /** Since when it waits for a person, and how long it did before; such waits do not count as its own time. */
  pausedAt: number | null;
  pausedMs: number;
};

/** `scopes` are those whose budget is used up. */
export type BudgetRequest = { requestId: string; scopes: BudgetScope[] };

/** The open runs are cached, because every step asks for them repeatedly. A rollback of rows must call `clearCaches`. */
export class Runs {
  readonly #sql: Sql;
  /** Undefined if it is not known; null if no run is active. */
  #active: Run | null | undefined;
  /** Oldest first; undefined if they are not known. */
  #waiting: readonly Run[] | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  clearCaches(): void {
    this.#active = this.#waiting = undefined;
  }

  /** All changes are made here. */
  #change(query: string, ...bindings: SqlValue[]): number {
    this.clearCaches();
    return this.#sql.run(query, ...bindings);
  }

  get(runId: string): Run | undefined {
    if (this.#active?.runId === runId) return this.#active;
    const row = this.#sql.get("SELECT * FROM runs WHERE run_id = ?", runId);
    return row && fromRow(row);
  }

  findActive(): Run | undefined {
    if (this.#active === undefined) {
      const row = this.#sql.get("SELECT * FROM runs WHERE state = 'active'");
      this.#active = row === undefined ? null : fromRow(row);
    }
    return this.#active ?? undefined;
  }

  /** Oldest first. */
  listWaiting(): readonly Run[] {
    return (this.#waiting ??= this.#sql.all("SELECT * FROM runs WHERE state = 'waiting' ORDER BY number").map(fromRow));
  }

  countWaiting(): number {
    return this.listWaiting().length;
  }

  countOnHold(): number {
    return this.listWaiting().filter(({ isOnHold }) => isOnHold).length;
  }

  /** Puts all queued runs of a conversation on hold and returns how many there were. */
  holdQueued(conversationId: string): number {
    return this.#change("UPDATE runs SET on_hold = 1 WHERE state = 'waiting' AND conversation_id = ?", conversationId);
  }

  /** Those of one conversation, or all. */
  releaseQueued(conversationId: string | null): number {
    const released = "UPDATE runs SET on_hold = 0 WHERE state = 'waiting' AND on_hold = 1";
    return conversationId === null ? this.#change(released) : this.#change(`${released} AND conversation_id = ?`, conversationId);
  }

  listJoined(runId: string): Run[] {
    return this.#sql.all("SELECT * FROM runs WHERE state = 'joined' AND joined_to = ? ORDER BY number", runId).map(fromRow);
  }

  /** Whether a run was for a reason that is none of these. */
  hasOtherReason(reasons: readonly RunReason[]): boolean {
    const marks = reasons.map(() => "?").join(", ");
    return this.#sql.get(`SELECT 1 AS one FROM runs WHERE reason NOT IN (${marks}) LIMIT 1`, ...reasons) !== undefined;
  }

  add(
    { runId, conversationId, reason, message, settings }: Pick<Run, "runId" | "conversationId" | "reason" | "message" | "settings">,
    now: number,
  ): void {
    const number = Number(this.#sql.get("SELECT coalesce(max(number), 0) + 1 AS number FROM runs")?.number);
    this.#change(
      `INSERT INTO runs (run_id, number, conversation_id, state, reason, message, settings, lease_until, created_at)
       VALUES (?, ?, ?, 'waiting', ?, ?, ?, 0, ?)`,
      runId,
      number,
      conversationId,
      reason,
      message === null ? null : JSON.stringify(message),
      settings === null ? null : JSON.stringify(settings),
      now,
    );
  }

  /** Changes the message of a queued run. */
  setMessage(runId: string, message: Run["message"]): void {
    this.#change("UPDATE runs SET message = ? WHERE run_id = ? AND state = 'waiting'", JSON.stringify(message), runId);
  }

  begin(runId: string, leaseUntil: number, now: number): void {
    this.#change("UPDATE runs SET state = 'active', lease_until = ?, started_at = ? WHERE run_id = ?", leaseUntil, now, runId);
  }

  join(runId: string, joinedTo: string, now: number): void {
    this.#change("UPDATE runs SET state = 'joined', joined_to = ?, started_at = ? WHERE run_id = ?", joinedTo, now, runId);
  }

  extendLease(runId: string, leaseUntil: number): void {
    this.#change("UPDATE runs SET lease_until = ? WHERE run_id = ? AND state = 'active'", leaseUntil, runId);
  }

  /** It waits for a person, who may need longer than the normal lease. */
  pause(runId: string, leaseUntil: number, now: number): void {
    this.#change("UPDATE runs SET paused_at = coalesce(paused_at, ?) WHERE run_id = ? AND state = 'active'", now, runId);
    this.extendLease(runId, leaseUntil);
  }

  resume(runId: string, leaseUntil: number, now: number): void {
    this.#change(
      "UPDATE runs SET paused_ms = paused_ms + (?1 - coalesce(paused_at, ?1)), paused_at = NULL WHERE run_id = ?2 AND state = 'active'",
      now,
      runId,
    );
    this.extendLease(runId, leaseUntil);
  }

  addCompaction(runId: string): void {
    this.#change("UPDATE runs SET compactions = compactions + 1 WHERE run_id = ?", runId);
  }

  setBudgetRequest(runId: string, request: BudgetRequest | null): void {
    this.#change(
      "UPDATE runs SET budget_request = ? WHERE run_id = ? AND state = 'active'",
      request === null ? null : JSON.stringify(request),
      runId,
    );
  }

  /** False if it had ended before: an end is reported once. */
  end(runId: string, outcome: RunOutcome, now: number): boolean {
    const changed = this.#change(
      "UPDATE runs SET state = 'ended', message = NULL, outcome = ?, ended_at = ? WHERE run_id = ? AND state <> 'ended'",
      JSON.stringify(outcome),
      now,
      runId,
    );
    return changed > 0;
  }

  /** Deletes what is known of the runs of a conversation, which have ended. */
  removeConversation(conversationId: string): void {
    this.#change("DELETE FROM runs WHERE conversation_id = ? AND state = 'ended'", conversationId);
  }

  /** Deletes runs that ended long ago; until then a repeated runId is recognized. */
  prune(before: number): void {
    this.#change("DELETE FROM runs WHERE state = 'ended' AND ended_at < ?", before);
  }
}

/** How long it was active, without waits for a person. */
export function activeMs({ startedAt, pausedAt, pausedMs }: Run, now: number): number {
  return startedAt === null ? 0 : Math.max(0, (pausedAt ?? now) - startedAt - pausedMs);
}

function fromRow(row: SqlRow): Run {
  return {
    runId: String(row.run_id),
    conversationId: String(row.conversation_id),
    reason: row.reason as RunReason,
    message: row.message === null ? null : (JSON.parse(String(row.message)) as Run["message"]),
    settings: row.settings === null ? null : (JSON.parse(String(row.settings)) as RunSettings),
    state: row.state as Run["state"],
    joinedTo: row.joined_to as string | null,
    isOnHold: row.on_hold === 1,
    leaseUntil: Number(row.lease_until ?? 0),
    createdAt: Number(row.created_at),
    startedAt: row.started_at as number | null,
    outcome: row.outcome === null ? null : (JSON.parse(String(row.outcome)) as RunOutcome),
    compactions: Number(row.compactions),
    pausedAt: row.paused_at as number | null,
    pausedMs: Number(row.paused_ms),
    budgetRequest: row.budget_request === null ? null : (JSON.parse(String(row.budget_request)) as BudgetRequest),
  };
}
