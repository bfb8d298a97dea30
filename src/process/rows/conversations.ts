// Conversations of a process: separate histories. Owns conversations.

import { fail } from "../../lib/sys-error.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { defaultPolicy } from "../../agent/context-policy.ts";
import type { ContextPolicy, ContextState, Conversation, StartedBy } from "../../protocol/proc-records.ts";

export const DEFAULT_CONVERSATION = "default";
const TITLE_CHARS_MAX = 200;

export class Conversations {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(id: string): Conversation | undefined {
    const row = this.#sql.get("SELECT * FROM conversations WHERE id = ?", id);
    return row && fromRow(row);
  }

  list(includeClosed: boolean): Conversation[] {
    const rows = this.#sql.all(
      "SELECT * FROM conversations WHERE ? OR status = 'open' ORDER BY is_pinned DESC, updated_at DESC, id",
      includeClosed ? 1 : 0,
    );
    return rows.map(fromRow);
  }

  /** Creates or reopens a conversation; the title changes only if one is given. */
  open(id: string, title: string | undefined, now: number): { conversation: Conversation; created: boolean } {
    const created = this.get(id) === undefined;
    if (created) this.#mustHaveRoom();
    const text = title?.trim().slice(0, TITLE_CHARS_MAX) || null;
    this.#sql.run(
      `INSERT INTO conversations (id, generation, status, title, first, next, overflow, compact_at, keep_last, policy_at, created_at, updated_at, context)
       VALUES (?1, 1, 'open', ?2, 0, 0, 'manual', 0.9, 80, 0, ?3, ?3, NULL)
       ON CONFLICT (id) DO UPDATE SET status = 'open', title = coalesce(?2, title), updated_at = ?3`,
      id,
      text,
      now,
    );
    return { conversation: this.#mustGet(id), created };
  }

  #mustHaveRoom(): void {
    const max = LIMITS.conversationsPerProcess;
    if (Number(this.#sql.get("SELECT count(*) AS count FROM conversations")?.count) >= max)
      fail(429, `This process has ${max} conversations, which is the maximum: start another process, or reset this one (proc.reset)`);
  }

  /** Returns an open conversation, creating it if needed; a closed one is refused. */
  openForMessage(id: string, now: number): Conversation {
    const conversation = this.get(id) ?? this.open(id, undefined, now).conversation;
    if (conversation.status === "closed") fail(409, `Conversation is closed: ${id}`);
    return conversation;
  }

  close(id: string, now: number): Conversation | undefined {
    this.#sql.run("UPDATE conversations SET status = 'closed', updated_at = ? WHERE id = ?", now, id);
    return this.get(id);
  }

  /** What is missing stays; an empty title is none. */
  update(id: string, { title, isPinned }: { title?: string | undefined; isPinned?: boolean | undefined }): Conversation {
    if (title !== undefined)
      this.#sql.run("UPDATE conversations SET title = ? WHERE id = ?", title.trim().slice(0, TITLE_CHARS_MAX) || null, id);
    if (isPinned !== undefined) this.#sql.run("UPDATE conversations SET is_pinned = ? WHERE id = ?", isPinned ? 1 : 0, id);
    return this.#mustGet(id);
  }

  setStartedBy(id: string, startedBy: StartedBy): void {
    this.#sql.run("UPDATE conversations SET started_by = ? WHERE id = ?", JSON.stringify(startedBy), id);
  }

  /** History deletes the messages. */
  remove(id: string): void {
    this.#sql.run("DELETE FROM conversations WHERE id = ?", id);
  }

  /** Begins the next generation; History deletes the messages. */
  startGeneration(id: string, now: number): Conversation {
    this.#sql.run(
      "UPDATE conversations SET generation = generation + 1, status = 'open', context = NULL, started_by = NULL, updated_at = ? WHERE id = ?",
      now,
      id,
    );
    return this.#mustGet(id);
  }

  policy(id: string): ContextPolicy {
    const row = this.#sql.get("SELECT * FROM conversations WHERE id = ?", id);
    if (row === undefined) return defaultPolicy(id);
    return {
      conversationId: id,
      overflow: row.overflow as ContextPolicy["overflow"],
      compactAtPressure: Number(row.compact_at),
      keepLast: Number(row.keep_last),
      updatedAt: Number(row.policy_at),
    };
  }

  setPolicy({ conversationId, overflow, compactAtPressure, keepLast }: ContextPolicy, now: number): ContextPolicy {
    if (this.get(conversationId) === undefined) this.open(conversationId, undefined, now);
    this.#sql.run(
      "UPDATE conversations SET overflow = ?, compact_at = ?, keep_last = ?, policy_at = ? WHERE id = ?",
      overflow,
      compactAtPressure,
      keepLast,
      now,
      conversationId,
    );
    return this.policy(conversationId);
  }

  /** How full its context was when it was last measured. */
  measuredContext(id: string): ContextState | null {
    const row = this.#sql.get("SELECT context FROM conversations WHERE id = ?", id);
    return row?.context == null ? null : (JSON.parse(String(row.context)) as ContextState);
  }

  setMeasuredContext(id: string, context: ContextState | null): void {
    this.#sql.run("UPDATE conversations SET context = ? WHERE id = ?", context === null ? null : JSON.stringify(context), id);
  }

  #mustGet(id: string): Conversation {
    return this.get(id) ?? fail(404, `Unknown conversation: ${id}`);
  }
}

function fromRow(row: SqlRow): Conversation {
  return {
    id: String(row.id),
    generation: Number(row.generation),
    status: row.status as Conversation["status"],
    title: row.title as string | null,
    messageCount: Number(row.next) - Number(row.first),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    isPinned: row.is_pinned === 1,
    startedBy: row.started_by === null ? null : (JSON.parse(String(row.started_by)) as StartedBy),
  };
}
