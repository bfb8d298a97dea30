// Parts of conversations that were archived: replaced by a summary, or removed by a rewind. Owns segments; they outlive the
// conversation's messages.

import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { Segment } from "../../protocol/proc-records.ts";

/** `liveThroughId` is the last message of the conversation at the time of the compaction. */
export type StoredSegment = Segment & { liveThroughId: number };

export class Segments {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(conversationId: string, id: string): StoredSegment | undefined {
    const row = this.#sql.get("SELECT * FROM segments WHERE id = ? AND conversation_id = ?", id, conversationId);
    return row && fromRow(row);
  }

  /** Oldest first. */
  list(conversationId: string): StoredSegment[] {
    return this.#sql.all("SELECT * FROM segments WHERE conversation_id = ? ORDER BY number", conversationId).map(fromRow);
  }

  /** Their archives are deleted too. */
  removeConversation(conversationId: string): void {
    this.#sql.run("DELETE FROM segments WHERE conversation_id = ?", conversationId);
  }

  isSummary(messageId: number): boolean {
    return this.#sql.get("SELECT 1 FROM segments WHERE summary_id = ?", messageId) !== undefined;
  }

  add({
    id,
    conversationId,
    generation,
    kind,
    fromMessageId,
    toMessageId,
    liveThroughId,
    archivePath,
    summaryMessageId,
    createdAt,
  }: StoredSegment): void {
    const number = Number(this.#sql.get("SELECT coalesce(max(number), 0) + 1 AS number FROM segments")?.number);
    this.#sql.run(
      `INSERT INTO segments (id, conversation_id, generation, from_id, to_id, live_through_id, archive_path, summary_id, created_at, number, kind)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      conversationId,
      generation,
      fromMessageId,
      toMessageId,
      liveThroughId,
      archivePath,
      summaryMessageId,
      createdAt,
      number,
      kind,
    );
  }
}

/** As clients see it. */
export function toSegment({ liveThroughId: _, ...segment }: StoredSegment): Segment {
  return segment;
}

function fromRow(row: SqlRow): StoredSegment {
  return {
    id: String(row.id),
    conversationId: String(row.conversation_id),
    generation: Number(row.generation),
    kind: row.kind as Segment["kind"],
    fromMessageId: Number(row.from_id),
    toMessageId: Number(row.to_id),
    liveThroughId: Number(row.live_through_id),
    archivePath: String(row.archive_path),
    summaryMessageId: row.summary_id as number | null,
    createdAt: Number(row.created_at),
  };
}
