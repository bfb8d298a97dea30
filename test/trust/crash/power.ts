// A power failure, which a kill is not: what the gateway had not synced is gone. Only the journal is synced with every batch, so
// the databases go back to what they were before the gateway started.

import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { recoverJournal } from "../../../src/hosts/node/journal/recover.ts";

const DATABASES = ["kernel.db", "processes"];
const ALL = [...DATABASES, "kernel.db-wal", "kernel.db-shm"];

/** Call it while no gateway runs. The returned function puts the databases back, once the gateway is dead. */
export function rememberDatabases(home: string): () => void {
  // Everything is in the databases now, and synced.
  recoverJournal(home);
  const copy = `${home}-before`;
  mkdirSync(copy);
  for (const name of DATABASES) if (existsSync(join(home, name))) cpSync(join(home, name), join(copy, name), { recursive: true });
  return () => {
    for (const name of ALL) rmSync(join(home, name), { recursive: true, force: true });
    cpSync(copy, home, { recursive: true });
    rmSync(copy, { recursive: true });
  };
}
