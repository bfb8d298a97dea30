// Brings a repository's database to the present schema, one transaction per step, as the kernel does with its own.

import type { Sql } from "../../ports/sql.ts";
import { initial } from "./001-initial.ts";
import { results } from "./002-results.ts";

type Migration = { version: number; statements: readonly string[] };

const MIGRATIONS: readonly Migration[] = [initial, results];

export function migrate(sql: Sql): void {
  sql.run("CREATE TABLE IF NOT EXISTS schema_version (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL) STRICT");
  const present = Number(sql.get("SELECT version FROM schema_version")?.version ?? 0);
  const newest = MIGRATIONS.at(-1)?.version ?? 0;
  if (present > newest)
    throw new Error(`The repository was written by a newer GSV (schema ${present}; this one knows up to ${newest}). Start that version.`);
  for (const migration of MIGRATIONS) {
    if (migration.version <= present) continue;
    sql.transaction(() => {
      for (const statement of migration.statements) sql.run(statement);
      sql.run("INSERT OR REPLACE INTO schema_version VALUES (1, ?)", migration.version);
    });
  }
}
