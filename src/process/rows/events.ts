// The events of a process, numbered in the order in which they happened. A follower that was disconnected asks for those after
// the last number it has seen. Owns events.

import type { Sql } from "../../ports/sql.ts";
import { PROC_CHANGED } from "../../protocol/signal-names.ts";
import type { Payload, ProcessEvent, ProcessEventName } from "../../protocol/signals.ts";

/** A follower that missed more reads the history again. */
const KEPT_MAX = 2_000;
const PRUNE_EVERY = 200;

/** A rollback of rows must call `clearCaches`. */
export class Events {
  readonly #sql: Sql;
  #lastSeq: number | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get lastSeq(): number {
    return (this.#lastSeq ??= Number(this.#sql.get("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.seq ?? 0));
  }

  clearCaches(): void {
    this.#lastSeq = undefined;
  }

  /** When the last event happened; 0 if there is none. */
  get lastAt(): number {
    return Number(this.#sql.get("SELECT created_at FROM events ORDER BY seq DESC LIMIT 1")?.created_at ?? 0);
  }

  /** Events about the calls of a script, as far as they are kept. */
  listOfScript(scriptCallId: string): ProcessEvent[] {
    return this.#sql
      .all(
        "SELECT seq, signal, payload FROM events WHERE instr(payload, ?) > 0 ORDER BY seq",
        JSON.stringify({ scriptCallId }).slice(1, -1),
      )
      .map(({ seq, signal, payload }) => ({ seq, signal, payload: JSON.parse(String(payload)) as unknown }) as ProcessEvent)
      .filter(({ payload }) => "scriptCallId" in payload && payload.scriptCallId === scriptCallId);
  }

  add<N extends ProcessEventName>(signal: N, payload: Payload<N>, now: number): ProcessEvent {
    const seq = this.lastSeq + 1;
    this.#sql.run("INSERT INTO events VALUES (?, ?, ?, ?)", seq, signal, JSON.stringify(payload), now);
    this.#lastSeq = seq;
    if (seq % PRUNE_EVERY === 0) this.#sql.run("DELETE FROM events WHERE seq <= ?", seq - KEPT_MAX);
    return { seq, signal, payload } as ProcessEvent;
  }

  /**
   * Leaves of the events of a conversation, up to a number, only that it has changed. Numbers have no gaps, so the events themselves
   * stay.
   */
  redact(conversationId: string, throughSeq: number, replacement: Payload<typeof PROC_CHANGED>): void {
    this.#sql.run(
      "UPDATE events SET signal = ?, payload = ? WHERE seq <= ? AND json_extract(payload, '$.conversationId') = ?",
      PROC_CHANGED,
      JSON.stringify(replacement),
      throughSeq,
      conversationId,
    );
  }

  /** Null if some of these events were pruned. */
  listCompleteAfter(seq: number, limit: number): ProcessEvent[] | null {
    const oldest = this.#sql.get("SELECT min(seq) AS seq FROM events")?.seq;
    if (seq > this.lastSeq || (seq < this.lastSeq && (oldest == null || Number(oldest) > seq + 1))) return null;
    return this.listStoredAfter(seq, limit);
  }

  /** The same, but returns whatever was not pruned. */
  listStoredAfter(seq: number, limit: number): ProcessEvent[] {
    return this.#sql
      .all("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?", seq, limit)
      .map(({ seq, signal, payload }) => ({ seq: Number(seq), signal, payload: JSON.parse(String(payload)) as unknown }) as ProcessEvent);
  }
}
