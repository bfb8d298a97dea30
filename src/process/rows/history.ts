// The messages of conversations. Owns messages, and the bounds of each conversation's places. The cost of reading a page does not
// depend on the length of the history.

import type { OutputBlock } from "../../ports/models.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { ScriptCallList } from "../../protocol/proc-records.ts";
import type { CallOutcome } from "./calls.ts";

export type StoredMedia = {
  type: string;
  mimeType: string;
  key?: string;
  url?: string;
  filename?: string;
  size?: number;
  duration?: number;
  transcription?: string;
};

export type MessageContent =
  | { role: "user"; text: string; media?: StoredMedia[] }
  /** `model` is the author, provider/model. `stopped`: somebody stopped the answer, and this is what had arrived. */
  | { role: "assistant"; blocks: OutputBlock[]; model?: string; stopped?: true }
  | { role: "system"; text: string }
  | ToolResultContent;

/** `durationMs` excludes the time it waited for a person. */
export type ToolResultContent = {
  role: "toolResult";
  callId: string;
  tool: string;
  isError: boolean;
  outcome?: CallOutcome;
  durationMs?: number;
  output: string;
  images?: StoredMedia[];
  /** Of a script, so that people can see later what it did. Models are not told. */
  scriptCalls?: ScriptCallList;
};

export type Message = { id: number; runId: string | null; createdAt: number } & MessageContent;

export type Page = { messages: Message[]; messageCount: number };

type Bounds = { first: number; next: number };

/** A rollback of rows must call `clearCaches`. */
export class History {
  readonly #sql: Sql;
  readonly #bounds = new Map<string, Bounds>();
  /** The newest message of each conversation. */
  readonly #last = new Map<string, Message>();
  #lastId: number | undefined;
  /** Changes with every change to messages other than an append. */
  revision = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  clearCaches(): void {
    this.#bounds.clear();
    this.#last.clear();
    this.#lastId = undefined;
  }

  append(conversationId: string, runId: string | null, said: MessageContent, now: number): Message {
    const { role, ...content } = said;
    const { first, next: place } = this.bounds(conversationId);
    // A fork copies messages that are older than itself.
    this.#sql.run("UPDATE conversations SET next = next + 1, updated_at = max(updated_at, ?) WHERE id = ?", now, conversationId);
    const id = this.#nextId();
    this.#sql.run(
      "INSERT INTO messages (id, conversation_id, place, run_id, role, content, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      id,
      conversationId,
      place,
      runId,
      role,
      JSON.stringify(content),
      now,
    );
    this.#lastId = id;
    const message = { id, runId, createdAt: now, ...said };
    this.#bounds.set(conversationId, { first, next: place + 1 });
    this.#last.set(conversationId, message);
    return message;
  }

  /** Ids are never used twice, not even those of deleted messages. */
  #nextId(): number {
    this.#lastId ??= Number(this.#sql.get("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")?.seq ?? 0);
    return this.#lastId + 1;
  }

  /** `offset` counts from the oldest. */
  page(conversationId: string, offset: number, limit: number): Page {
    const { first, next } = this.bounds(conversationId);
    const from = first + offset;
    const rows = this.#sql.all(
      "SELECT * FROM messages WHERE conversation_id = ? AND place >= ? AND place < ? ORDER BY place",
      conversationId,
      from,
      from + limit,
    );
    return { messages: rows.map(fromRow), messageCount: next - first };
  }

  /**
   * The place of the first message whose id is at least `id`, or the end. Ids grow with places, so this is a binary search; a
   * message with that id need not exist any more, it may have been archived.
   */
  findPlace(conversationId: string, id: number): number {
    let { first: low, next: high } = this.bounds(conversationId);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = this.#sql.get("SELECT id FROM messages WHERE conversation_id = ? AND place = ?", conversationId, middle);
      if (Number(row?.id) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** First place and the place after the last. */
  bounds(conversationId: string): Bounds {
    const known = this.#bounds.get(conversationId);
    if (known !== undefined) return known;
    const row = this.#sql.get("SELECT first, next FROM conversations WHERE id = ?", conversationId);
    if (row === undefined) return { first: 0, next: 0 };
    const bounds = { first: Number(row.first), next: Number(row.next) };
    this.#bounds.set(conversationId, bounds);
    return bounds;
  }

  /** From one place up to another, oldest first, read in steps. */
  *range(conversationId: string, from: number, end: number, step = 100): Generator<Message> {
    for (let at = from; at < end; at += step) {
      const rows = this.#sql.all(
        "SELECT * FROM messages WHERE conversation_id = ? AND place >= ? AND place < ? ORDER BY place",
        conversationId,
        at,
        Math.min(end, at + step),
      );
      for (const row of rows) yield fromRow(row);
    }
  }

  roleAt(conversationId: string, place: number): MessageContent["role"] | undefined {
    const row = this.#sql.get("SELECT role FROM messages WHERE conversation_id = ? AND place = ?", conversationId, place);
    return row?.role as MessageContent["role"] | undefined;
  }

  /** Newest first, read in steps for as long as the caller iterates. */
  *readBackwards(conversationId: string, step = 50): Generator<Message> {
    const { first, next } = this.bounds(conversationId);
    for (let end = next; end > first; end -= step) {
      const rows = this.#sql.all(
        "SELECT * FROM messages WHERE conversation_id = ? AND place >= ? AND place < ? ORDER BY place DESC",
        conversationId,
        Math.max(first, end - step),
        end,
      );
      for (const row of rows) yield fromRow(row);
    }
  }

  findLast(conversationId: string): Message | undefined {
    const known = this.#last.get(conversationId);
    if (known !== undefined) return known;
    const [message] = this.readBackwards(conversationId, 1);
    if (message !== undefined) this.#last.set(conversationId, message);
    return message;
  }

  get(id: number): (Message & { conversationId: string; place: number }) | undefined {
    const row = this.#sql.get("SELECT * FROM messages WHERE id = ?", id);
    return row && { ...fromRow(row), conversationId: String(row.conversation_id), place: Number(row.place) };
  }

  /** Deletes all messages; the places start anew. */
  clear(conversationId: string): void {
    this.revision++;
    this.clearCaches();
    this.#sql.run("UPDATE conversations SET first = 0, next = 0 WHERE id = ?", conversationId);
    this.#sql.run("DELETE FROM messages WHERE conversation_id = ?", conversationId);
  }

  /**
   * The messages of all other conversations as JSON, in pages, those that are added meanwhile too. A page without any is empty, so that
   * none takes long.
   */
  *readOthers(conversationId: string, step = 50): Generator<string[]> {
    const query = "SELECT id, CASE WHEN conversation_id <> ? THEN content END AS content FROM messages WHERE id > ? ORDER BY id LIMIT ?";
    const read = (after: number) => this.#sql.all(query, conversationId, after, step);
    for (let rows = read(0); rows.length > 0; rows = read(Number(rows.at(-1)!.id)))
      yield rows.flatMap(({ content }) => (content === null ? [] : [String(content)]));
  }

  /** Deletes the messages from a place on. */
  removeFrom(conversationId: string, place: number, now: number): void {
    this.revision++;
    this.clearCaches();
    this.#sql.run("DELETE FROM messages WHERE conversation_id = ? AND place >= ?", conversationId, place);
    this.#sql.run("UPDATE conversations SET next = ?, updated_at = ? WHERE id = ?", place, now, conversationId);
  }

  /** Replaces the messages up to a place by a single one, which takes the id of the first. */
  replaceThrough(conversationId: string, throughPlace: number, said: MessageContent, now: number): Message {
    this.revision++;
    const { role, ...content } = said;
    const { first } = this.bounds(conversationId);
    this.clearCaches();
    const id = Number(this.#sql.get("SELECT id FROM messages WHERE conversation_id = ? AND place = ?", conversationId, first)?.id);
    this.#sql.run("DELETE FROM messages WHERE conversation_id = ? AND place <= ?", conversationId, throughPlace);
    this.#sql.run("UPDATE conversations SET first = ?, updated_at = ? WHERE id = ?", throughPlace, now, conversationId);
    this.#sql.run(
      "INSERT INTO messages (id, conversation_id, place, run_id, role, content, created_at) VALUES (?, ?, ?, NULL, ?, ?, ?)",
      id,
      conversationId,
      throughPlace,
      role,
      JSON.stringify(content),
      now,
    );
    return { id, runId: null, createdAt: now, ...said };
  }
}

function fromRow(row: SqlRow): Message {
  const content = JSON.parse(String(row.content)) as object;
  return {
    id: Number(row.id),
    runId: row.run_id as string | null,
    createdAt: Number(row.created_at),
    role: row.role,
    ...content,
  } as Message;
}
