// What a person has set for a process or for one of its conversations. Owns process_settings. What follows from it is in
// agents/effective-settings.ts. Agents never write here.

import { Cache } from "../../lib/cache.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { Posture, ProcessSettings as Settings, Thinking } from "../../protocol/process-settings.ts";

export const NO_SETTINGS: Settings = { model: null, thinking: null, prompt: null, maxTokens: null, posture: null, postureEndsAt: null };

/** Settings of a process have no conversation. */
export type SettingsOwner = { pid: string; conversationId: string | null };

export type ProcessSettingsReads = Pick<ProcessSettings, "get" | "listEnded" | "nextDueAt">;

const CACHE_MAX = 1024;

export class ProcessSettings {
  readonly #sql: Sql;
  /** Every call of an agent needs them. A rollback of rows must call `clearCaches`. */
  readonly #cache = new Cache<string, Settings>(CACHE_MAX);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  clearCaches(): void {
    this.#cache.clear();
  }

  /** The same object until it is changed. */
  get({ pid, conversationId }: SettingsOwner): Settings {
    return this.#cache.get(JSON.stringify([pid, conversationId]), () => {
      const row = this.#sql.get("SELECT * FROM process_settings WHERE pid = ? AND conversation_id = ?", pid, conversationId ?? "");
      return row === undefined ? NO_SETTINGS : fromRow(row);
    });
  }

  set({ pid, conversationId }: SettingsOwner, { model, thinking, prompt, maxTokens, posture, postureEndsAt }: Settings): void {
    this.#cache.clear();
    this.#sql.run("DELETE FROM process_settings WHERE pid = ? AND conversation_id = ?", pid, conversationId ?? "");
    if ([model, thinking, prompt, maxTokens, posture].every((value) => value === null)) return;
    this.#sql.run(
      "INSERT INTO process_settings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      pid,
      conversationId ?? "",
      model?.provider ?? null,
      model?.model ?? null,
      thinking,
      prompt,
      maxTokens,
      posture,
      postureEndsAt,
    );
  }

  removeConversation(pid: string, conversationId: string): void {
    this.#cache.clear();
    this.#sql.run("DELETE FROM process_settings WHERE pid = ? AND conversation_id = ?", pid, conversationId);
  }

  /** Of the process and all its conversations. */
  removeProcess(pid: string): void {
    this.#cache.clear();
    this.#sql.run("DELETE FROM process_settings WHERE pid = ?", pid);
  }

  /** Whose posture has ended by now, or would last longer than it may. */
  listEnded(now: number, latest: number): SettingsOwner[] {
    return this.#sql
      .all(
        "SELECT pid, conversation_id FROM process_settings WHERE posture_ends_at <= ? OR posture_ends_at > ? ORDER BY posture_ends_at LIMIT 100",
        now,
        latest,
      )
      .map((row) => ({ pid: String(row.pid), conversationId: String(row.conversation_id) || null }));
  }

  nextDueAt(): number | null {
    const row = this.#sql.get("SELECT min(posture_ends_at) AS at FROM process_settings WHERE posture_ends_at IS NOT NULL");
    return (row?.at as number | null | undefined) ?? null;
  }
}

function fromRow(row: SqlRow): Settings {
  const { provider, model } = row;
  return {
    model: provider === null || model === null ? null : { provider: String(provider), model: String(model) },
    thinking: row.thinking as Thinking | null,
    prompt: row.prompt as string | null,
    maxTokens: row.max_tokens as number | null,
    posture: row.posture as Posture | null,
    postureEndsAt: row.posture_ends_at as number | null,
  };
}
