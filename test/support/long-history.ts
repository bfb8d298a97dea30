// Makes a conversation long by writing rows to the database of a process while no gateway runs.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const EVERY_MS = 1_000;

/**
 * Adds `count` messages to the default conversation, which must exist: "message 1" is the user's, "message 2" the answer, and so
 * on.
 */
export function fillHistory(home: string, pid: string, count: number): void {
  const sql = new DatabaseSync(join(home, "processes", `${pid.replace(":", "-")}.db`));
  const { next } = sql.prepare("SELECT next FROM conversations WHERE id = 'default'").get() as { next: number };
  const insert = sql.prepare(
    "INSERT INTO messages (conversation_id, place, run_id, role, content, created_at) VALUES ('default', ?, NULL, ?, ?, ?)",
  );
  const from = Date.now() - count * EVERY_MS;
  sql.exec("BEGIN");
  for (let at = 0; at < count; at++) {
    const text = `message ${at + 1}. ${"Some words of it. ".repeat(1 + (at % 9))}`;
    const said = at % 2 === 0 ? { text } : { blocks: [{ type: "text", text: `**Answer.** ${text}\n\n- one\n- two` }] };
    insert.run(next + at, at % 2 === 0 ? "user" : "assistant", JSON.stringify(said), from + at * EVERY_MS);
  }
  sql.prepare("UPDATE conversations SET next = next + ? WHERE id = 'default'").run(count);
  sql.exec("COMMIT");
  sql.close();
}
