// The kernel's schema: an empty database comes to the present one, once.

import { expect, it } from "vitest";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { migrate as migrateBy } from "../../ports/migrate.ts";
import { Accounts } from "../nouns/accounts.ts";
import { Groups } from "../nouns/groups.ts";
import { Repositories } from "../nouns/repositories.ts";
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

it("gives accounts from before there were repositories their homes", () => {
  const sql = new MemorySql();
  migrateBy(sql, MIGRATIONS.slice(0, 3));
  const accounts = new Accounts(sql, new Groups(sql));
  accounts.add({ username: "alice", hash: "!" }, 0);
  migrate(sql);
  expect(new Repositories(sql, accounts).list({ uid: 0, username: "root" })).toMatchObject([
    { repo: "alice/home", kind: "home", public: false, isScaffolded: false, isArchived: false, head: null },
    { repo: "root/home", kind: "home" },
  ]);
});

function dump(sql: MemorySql): unknown {
  const tables = sql.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map((row) => String(row.name));
  return [sql.all("SELECT * FROM sqlite_schema ORDER BY name"), ...tables.map((name) => sql.all(`SELECT * FROM ${name}`))];
}
