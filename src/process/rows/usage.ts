// What a process has used of models, tools and time: per message, per run, and in total. Owns usage and spent.

import type { ModelUsage } from "../../ports/models.ts";
import type { Sql } from "../../ports/sql.ts";
import { NOTHING_SPENT, sumSpent } from "../../ports/usage.ts";
import type { MessageUsage, Spent } from "../../protocol/proc-records.ts";

type AnswerUsage = { messageId: number; runId: string | null; provider: string; model: string; usage: ModelUsage };

/** The key of the total; no run has an empty id. */
const PROCESS = "";

export class Usage {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  ofProcess(): Spent {
    return this.#read(PROCESS, "total");
  }

  ofRun(runId: string): Spent {
    return this.#read(runId, "total");
  }

  /** A message may have cost more than one answer, for example a summary that replaced another. */
  ofMessage(messageId: number): MessageUsage[] {
    return this.#sql.all("SELECT * FROM usage WHERE message_id = ? ORDER BY number", messageId).map((row) => ({
      provider: String(row.provider),
      model: String(row.model),
      input: Number(row.input),
      output: Number(row.output),
      cacheRead: Number(row.cache_read),
      cacheWrite: Number(row.cache_write),
      cost: Number(row.cost),
    }));
  }

  addAnswer({ messageId, runId, provider, model, usage }: AnswerUsage, now: number): void {
    this.#sql.run(
      `INSERT INTO usage (message_id, run_id, provider, model, input, output, cache_read, cache_write, cost, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      messageId,
      runId,
      provider,
      model,
      usage.input,
      usage.output,
      usage.cacheRead,
      usage.cacheWrite,
      usage.cost.total,
      now,
    );
    this.#add(runId, { modelCalls: 1, usage });
  }

  /** An answer that is part of no conversation, for example the summary of a workspace. */
  addModelCall(usage: ModelUsage): void {
    this.#add(null, { modelCalls: 1, usage });
  }

  addToolCall(runId: string): void {
    this.#add(runId, { toolCalls: 1 });
  }

  /** At the end of a run. */
  addWallTime(runId: string, wallMs: number): void {
    this.#add(runId, { wallMs });
  }

  /** What was used by then no longer counts against the budget. */
  extendBudget(scope: "process" | { runId: string }, spent: Spent): void {
    const key = scope === "process" ? PROCESS : scope.runId;
    this.#sql.run(
      "INSERT INTO spent VALUES (?1, ?2, ?3) ON CONFLICT (scope) DO UPDATE SET since = ?3",
      key,
      JSON.stringify(NOTHING_SPENT),
      JSON.stringify(spent),
    );
  }

  /** What had been used when the budget was last extended. */
  usedAtExtension(scope: "process" | { runId: string }): Spent {
    return this.#read(scope === "process" ? PROCESS : scope.runId, "since");
  }

  #add(runId: string | null, more: Partial<Spent>): void {
    for (const scope of runId === null ? [PROCESS] : [PROCESS, runId]) {
      this.#sql.run(
        "INSERT INTO spent VALUES (?1, ?2, NULL) ON CONFLICT (scope) DO UPDATE SET total = ?2",
        scope,
        JSON.stringify(sumSpent(this.#read(scope, "total"), more)),
      );
    }
  }

  #read(scope: string, column: "total" | "since"): Spent {
    const value = this.#sql.get("SELECT total, since FROM spent WHERE scope = ?", scope)?.[column];
    return value == null ? NOTHING_SPENT : (JSON.parse(String(value)) as Spent);
  }
}
