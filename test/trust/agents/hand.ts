// Edits a gateway's database while it runs, as time or tampering would.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errcode } from "../../../src/hosts/node/sql-file.ts";
import { pause } from "../devices/asker.ts";

const SQLITE_BUSY = 5;
const TRIES = 500;

/**
 * Changes one row of the kernel's database, or of a process's. The gateway runs in this thread, so it retries while the database
 * is busy.
 */
export async function edit(
  home: string,
  file: "kernel.db" | `processes/${string}.db`,
  statement: string,
  ...bindings: (string | number)[]
): Promise<void> {
  const database = new DatabaseSync(join(home, file), { timeout: 0 });
  try {
    for (let tries = 1; ; tries++) {
      try {
        const { changes } = database.prepare(statement).run(...bindings);
        if (changes !== 1) throw new Error(`${statement} changed ${changes} rows`);
        return;
      } catch (error) {
        if (errcode(error) !== SQLITE_BUSY || tries === TRIES) throw error;
        await pause(10);
      }
    }
  } finally {
    database.close();
  }
}
