// Which conversation of an agent has started a process, or sent a message that is not answered yet. Owns process_origins. What
// follows from it for the posture is in agents/postures.ts.

import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { Posture } from "../../protocol/process-settings.ts";

/** `posture`: which one the source had at that time. */
export type Origin = { sourcePid: string; sourceConversationId: string; posture: Posture };
export type MessageTarget = { pid: string; runId: string; conversationId: string };

export type ProcessOriginReads = Pick<ProcessOrigins, "ofProcess" | "ofMessages" | "listRunIds">;

export class ProcessOrigins {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Undefined for a process that a person or a schedule has started. */
  ofProcess(pid: string): Origin | undefined {
    const row = this.#sql.get("SELECT * FROM process_origins WHERE pid = ? AND run_id = ''", pid);
    return row && fromRow(row);
  }

  /** Of the messages of agents in a conversation that wait, on hold or not, or are being answered. */
  ofMessages(pid: string, conversationId: string): Origin[] {
    return this.#sql
      .all("SELECT * FROM process_origins WHERE pid = ? AND run_id <> '' AND conversation_id = ?", pid, conversationId)
      .map(fromRow);
  }

  /** The runs of all messages of agents to a process. */
  listRunIds(pid: string): string[] {
    return this.#sql.all("SELECT run_id FROM process_origins WHERE pid = ? AND run_id <> ''", pid).map((row) => String(row.run_id));
  }

  addProcess(pid: string, origin: Origin): void {
    this.#add({ pid, runId: "", conversationId: "" }, origin);
  }

  addMessage(target: MessageTarget, origin: Origin): void {
    this.#add(target, origin);
  }

  removeMessage(pid: string, runId: string): void {
    this.#sql.run("DELETE FROM process_origins WHERE pid = ? AND run_id = ? AND run_id <> ''", pid, runId);
  }

  #add({ pid, runId, conversationId }: MessageTarget, { sourcePid, sourceConversationId, posture }: Origin): void {
    this.#sql.run(
      "INSERT OR REPLACE INTO process_origins VALUES (?, ?, ?, ?, ?, ?)",
      pid,
      runId,
      conversationId,
      sourcePid,
      sourceConversationId,
      posture,
    );
  }
}

function fromRow(row: SqlRow): Origin {
  return {
    sourcePid: String(row.source_pid),
    sourceConversationId: String(row.source_conversation_id),
    posture: row.posture as Posture,
  };
}
