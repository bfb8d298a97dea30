// The kernel's schema: an empty database comes to the present one, once.

import { expect, it } from "vitest";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { migrate, MIGRATIONS } from "./migrate.ts";

it("brings an empty database to the present schema, and a second start changes nothing", () => {
  const sql = new MemorySql();
  migrate(sql);
  sql.commit();
  const before = dump(sql);
  expect(sql.get("SELECT version FROM schema_version")).toEqual({ version: MIGRATIONS.at(-1)!.version });
  expect(MIGRATIONS.map((migration) => migration.version)).toEqual(MIGRATIONS.map((_, at) => at + 1));
  migrate(sql);
  sql.commit();
  expect(dump(sql)).toEqual(before);
});

function dump(sql: MemorySql): unknown {
  const tables = sql.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map((row) => String(row.name));
  return [sql.all("SELECT * FROM sqlite_schema ORDER BY name"), ...tables.map((name) => sql.all(`SELECT * FROM ${name}`))];
}
