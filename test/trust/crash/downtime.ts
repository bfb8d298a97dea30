// Makes the schedules of a stopped gateway look as if it had been down for a month.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { recoverJournal } from "../../../src/hosts/node/journal/recover.ts";

/** The interval of the schedules that are used for this: one that runs each minute would be in time again. */
export const SELDOM_MS = 60 * 60 * 1000;

const MONTH_MS = 30 * 24 * SELDOM_MS;

/**
 * Call it while the gateway is stopped. Returns the first time that each of those schedules has missed, by id. One whose run is unfinished
 * misses none.
 */
export function missMonth(home: string): Map<string, number> {
  recoverJournal(home);
  const database = new DatabaseSync(join(home, "kernel.db"));
  const which = `enabled = 1 AND run_id IS NULL AND json_extract(expression, '$.everyMs') = ${SELDOM_MS}`;
  // The last time is half an interval ago.
  const anchorAt = Date.now() - MONTH_MS - SELDOM_MS / 2;
  const nextAt = anchorAt + SELDOM_MS;
  try {
    database.exec(
      `UPDATE schedules SET next_at = ${nextAt}, wake_at = ${nextAt}, queued_at = NULL, anchor_at = ${anchorAt}, counted_at = ${anchorAt} WHERE ${which}`,
    );
    const rows = database.prepare(`SELECT schedule_id FROM schedules WHERE ${which}`).all();
    return new Map(rows.map((row) => [String(row.schedule_id), nextAt]));
  } finally {
    database.close();
  }
}
