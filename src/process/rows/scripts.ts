// Scripts of the active run, and those of their calls that wait for a person. A script that runs has no snapshot: if the process is lost
// then, the script is too. A suspended one has a snapshot, from which a later instance of the process continues it. Owns scripts,
// script_snapshots and script_calls.

import type { ScriptTime } from "../../ports/sandbox.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";

/** `callId` is the model's call; `engine` the one that took the snapshot, null while the script runs. */
export type Script = { callId: string; runId: string; engine: string | null; used: ScriptTime };

/** A call of a script about which a person was asked. */
export type ScriptCallRow = {
  callId: string;
  scriptCallId: string;
  /** The script's own number for it. */
  number: number;
  syscall: string;
  args: Record<string, unknown>;
  requestId: string;
  /** It was sent again after an answer, and may have run. */
  isSent: boolean;
  startedAt: number | null;
};

/** A row may hold 2 MB. */
const PART_BYTES = 1024 * 1024;

export class Scripts {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(callId: string): Script | undefined {
    const row = this.#sql.get("SELECT * FROM scripts WHERE call_id = ?", callId);
    return row && fromRow(row);
  }

  list(): Script[] {
    return this.#sql.all("SELECT * FROM scripts").map(fromRow);
  }

  /** The script runs from now on, so an earlier snapshot and the calls that it gets answers to are void. */
  markRunning(callId: string, runId: string, answered: readonly string[]): void {
    this.#removeSnapshot(callId);
    for (const one of answered) this.removeCall(one);
    this.#sql.run("INSERT OR REPLACE INTO scripts VALUES (?, ?, NULL, 0, 0)", callId, runId);
  }

  suspend({ callId, runId, engine, used }: Script, snapshot: Uint8Array): void {
    this.#removeSnapshot(callId);
    this.#sql.run(
      "INSERT OR REPLACE INTO scripts VALUES (?, ?, ?, ?, ?)",
      callId,
      runId,
      engine,
      Math.round(used.wallMs),
      Math.round(used.cpuMs),
    );
    for (let at = 0; at * PART_BYTES < snapshot.length; at++)
      this.#sql.run("INSERT INTO script_snapshots VALUES (?, ?, ?)", callId, at, snapshot.slice(at * PART_BYTES, (at + 1) * PART_BYTES));
  }

  readSnapshot(callId: string): Uint8Array {
    const parts = this.#sql
      .all("SELECT bytes FROM script_snapshots WHERE call_id = ? ORDER BY part", callId)
      .map(({ bytes }) => bytes as Uint8Array);
    const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  addCall({ callId, scriptCallId, number, syscall, args, requestId }: Omit<ScriptCallRow, "isSent" | "startedAt">): void {
    this.#sql.run(
      "INSERT OR REPLACE INTO script_calls VALUES (?, ?, ?, ?, ?, ?, 0, NULL)",
      callId,
      scriptCallId,
      number,
      syscall,
      JSON.stringify(args),
      requestId,
    );
  }

  /** The calls of a script that have no answer yet, in the script's order. */
  listCalls(scriptCallId: string): ScriptCallRow[] {
    return this.#sql.all("SELECT * FROM script_calls WHERE script_call_id = ? ORDER BY number", scriptCallId).map(callFromRow);
  }

  listAwaiting(requestId: string): ScriptCallRow[] {
    return this.#sql.all("SELECT * FROM script_calls WHERE request_id = ?", requestId).map(callFromRow);
  }

  markCallSent(callId: string): void {
    this.#sql.run("UPDATE script_calls SET is_sent = 1 WHERE call_id = ?", callId);
  }

  /** The person has still not answered. */
  markCallAsked(callId: string, requestId: string): void {
    this.#sql.run("UPDATE script_calls SET is_sent = 0, request_id = ? WHERE call_id = ?", requestId, callId);
  }

  markCallStarted(callId: string, now: number): void {
    this.#sql.run("UPDATE script_calls SET started_at = ? WHERE call_id = ? AND started_at IS NULL", now, callId);
  }

  removeCall(callId: string): void {
    this.#sql.run("DELETE FROM script_calls WHERE call_id = ?", callId);
  }

  remove(callId: string): void {
    this.#removeSnapshot(callId);
    this.#sql.run("DELETE FROM script_calls WHERE script_call_id = ?", callId);
    this.#sql.run("DELETE FROM scripts WHERE call_id = ?", callId);
  }

  removeForRun(runId: string): void {
    for (const row of this.#sql.all("SELECT call_id FROM scripts WHERE run_id = ?", runId)) this.remove(String(row.call_id));
  }

  #removeSnapshot(callId: string): void {
    this.#sql.run("DELETE FROM script_snapshots WHERE call_id = ?", callId);
  }
}

function fromRow(row: SqlRow): Script {
  return {
    callId: String(row.call_id),
    runId: String(row.run_id),
    engine: row.engine as string | null,
    used: { wallMs: Number(row.wall_ms), cpuMs: Number(row.cpu_ms) },
  };
}

function callFromRow(row: SqlRow): ScriptCallRow {
  return {
    callId: String(row.call_id),
    scriptCallId: String(row.script_call_id),
    number: Number(row.number),
    syscall: String(row.syscall),
    args: JSON.parse(String(row.args)) as Record<string, unknown>,
    requestId: String(row.request_id),
    isSent: row.is_sent === 1,
    startedAt: row.started_at as number | null,
  };
}
