// A hand that reaches into a gateway's files while it runs: rows change under it, as time or tampering would change them.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errcode } from "../../../src/hosts/node/sql.ts";
import { pause } from "../devices/asker.ts";

const SQLITE_BUSY = 5;
const TRIES = 500;

/** One row of the kernel's database, or of a process's. The gateway is in this very thread, so its turns are waited for. */
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
