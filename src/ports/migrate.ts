// Migrates an actor's database to the current schema. Each step and its number are one transaction, so a crash between two steps
// resumes at the second. A database from a newer GSV is left untouched.

import type { Sql } from "./sql.ts";

export type Migration = { version: number; statements: readonly string[] };

/** The data is from a newer GSV and was left unchanged. */
export class SchemaTooNew extends Error {}

/** Statements that move the rows into an ordinary table with these columns. They drop its indexes; the caller creates them again. */
export function rebuildTable(table: string, columns: string): string[] {
  return [
    `ALTER TABLE ${table} RENAME TO ${table}_before`,
    `CREATE TABLE ${table} (${columns}) STRICT`,
    `INSERT INTO ${table} SELECT * FROM ${table}_before`,
    `DROP TABLE ${table}_before`,
  ];
}

export function migrate(sql: Sql, migrations: readonly Migration[]): void {
  // Opening an up-to-date database writes nothing, so it can be read while the disk is full.
  if (sql.get("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'") === undefined)
    sql.run("CREATE TABLE schema_version (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL) STRICT");
  const present = Number(sql.get("SELECT version FROM schema_version")?.version ?? 0);
  const newest = migrations.at(-1)?.version ?? 0;
  if (present > newest) {
    throw new SchemaTooNew(`The data was written by a newer GSV (schema ${present}; this one knows up to ${newest}): start that version`);
  }
  for (const migration of migrations) {
    if (migration.version <= present) continue;
    sql.transaction(() => {
      for (const statement of migration.statements) sql.run(statement);
      sql.run("INSERT OR REPLACE INTO schema_version VALUES (1, ?)", migration.version);
    });
  }
}
