// What a process has used of models, tools and time: per message, per run, and in total. Owns usage and spent.

import { Cache } from "../../lib/cache.ts";
import type { ModelUsage } from "../../ports/models.ts";
import type { Sql, SqlValue } from "../../ports/sql.ts";
import { NOTHING_SPENT, sumSpent } from "../../ports/usage.ts";
import type { MessageUsage, Spent } from "../../protocol/proc-records.ts";

type AnswerUsage = { messageId: number; runId: string | null; provider: string; model: string; usage: ModelUsage };

/** The key of the total; no run has an empty id. */
const PROCESS = "";

type Account = { total: Spent; since: Spent };

const CACHE_MAX = 16;

/** A rollback of rows must call `clearCaches`. */
export class Usage {
  readonly #sql: Sql;
  /** By scope: the accounts of the process and of the active run are read before every model call. */
  readonly #accounts = new Cache<string, Account>(CACHE_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  ofProcess(): Spent {
    return this.#accountOf(PROCESS).total;
  }

  ofRun(runId: string): Spent {
    return this.#accountOf(runId).total;
  }

  clearCaches(): void {
    this.#accounts.clear();
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

  addToolCalls(runId: string, count: number): void {
    this.#add(runId, { toolCalls: count });
  }

  /** At the end of a run. */
  addWallTime(runId: string, wallMs: number): void {
    this.#add(runId, { wallMs });
  }

  /** What was used by then no longer counts against the budget. */
  extendBudget(scope: "process" | { runId: string }, spent: Spent): void {
    const key = scope === "process" ? PROCESS : scope.runId;
    this.#accounts.delete(key);
    this.#sql.run(
      "INSERT INTO spent VALUES (?1, ?2, ?3) ON CONFLICT (scope) DO UPDATE SET since = ?3",
      key,
      JSON.stringify(NOTHING_SPENT),
      JSON.stringify(spent),
    );
  }

  /** What had been used when the budget was last extended. */
  usedAtExtension(scope: "process" | { runId: string }): Spent {
    return this.#accountOf(scope === "process" ? PROCESS : scope.runId).since;
  }

  #add(runId: string | null, more: Partial<Spent>): void {
    for (const scope of runId === null ? [PROCESS] : [PROCESS, runId]) {
      const account = this.#accountOf(scope);
      const total = sumSpent(account.total, more);
      this.#sql.run("INSERT INTO spent VALUES (?1, ?2, NULL) ON CONFLICT (scope) DO UPDATE SET total = ?2", scope, JSON.stringify(total));
      this.#accounts.set(scope, { ...account, total });
    }
  }

  #accountOf(scope: string): Account {
    return this.#accounts.get(scope, () => {
      const row = this.#sql.get("SELECT total, since FROM spent WHERE scope = ?", scope);
      return { total: parseSpent(row?.total), since: parseSpent(row?.since) };
    });
  }
}

function parseSpent(value: SqlValue | undefined): Spent {
  return value == null ? NOTHING_SPENT : (JSON.parse(String(value)) as Spent);
}
