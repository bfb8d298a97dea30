// What followers of a process are told, numbered in the order in which it became true. Whoever was away asks for what came
// after the last number they have seen. Owns events.

import type { Sql } from "../../ports/sql.ts";
import type { Payload, ProcessEvent, ProcessEventName } from "../../protocol/signals.ts";

/** Who has been away for longer reads the history anew. */
const KEPT = 2_000;
const PRUNE_EVERY = 200;

export class Events {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get lastSeq(): number {
    return Number(this.#sql.get("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.seq ?? 0);
  }

  /** When the last of them became true; 0 where there is none. */
  get lastAt(): number {
    return Number(this.#sql.get("SELECT created_at FROM events ORDER BY seq DESC LIMIT 1")?.created_at ?? 0);
  }

  add<N extends ProcessEventName>(signal: N, payload: Payload<N>, now: number): ProcessEvent {
    this.#sql.run("INSERT INTO events (signal, payload, created_at) VALUES (?, ?, ?)", signal, JSON.stringify(payload), now);
    const seq = this.lastSeq;
    if (seq % PRUNE_EVERY === 0) this.#sql.run("DELETE FROM events WHERE seq <= ?", seq - KEPT);
    return { seq, signal, payload } as ProcessEvent;
  }

  /** Null where some of it is no longer there. */
  after(seq: number, limit: number): ProcessEvent[] | null {
    const oldest = this.#sql.get("SELECT min(seq) AS seq FROM events")?.seq;
    if (seq > this.lastSeq || (seq < this.lastSeq && (oldest == null || Number(oldest) > seq + 1))) return null;
    return this.since(seq, limit);
  }

  /** The same, as far as it is still there. */
  since(seq: number, limit: number): ProcessEvent[] {
    return this.#sql
      .all("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?", seq, limit)
      .map(({ seq, signal, payload }) => ({ seq: Number(seq), signal, payload: JSON.parse(String(payload)) as unknown }) as ProcessEvent);
  }
}
