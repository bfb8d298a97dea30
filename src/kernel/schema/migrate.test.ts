// The kernel's migrations, from an empty database and from older versions.

import { expect, it } from "vitest";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import { isTokenLive } from "../../lib/token-end.ts";
import { migrate as migrateBy } from "../../ports/migrate.ts";
import { Accounts } from "../nouns/accounts.ts";
import { Groups } from "../nouns/groups.ts";
import { Repositories } from "../nouns/repositories.ts";
import { Tokens } from "../nouns/tokens.ts";
import { migrate, MIGRATIONS } from "./migrate.ts";
import { Usage } from "../nouns/usage.ts";

it("migrates an empty database to the latest version, and a second start changes nothing", () => {
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

it("creates home repositories for accounts that are older than repositories", () => {
  const sql = new MemorySql();
  migrateBy(sql, MIGRATIONS.slice(0, 3));
  const accounts = new Accounts(sql, new Groups(sql));
  accounts.add({ username: "alice", hash: "!" }, 0);
  migrate(sql);
  expect(new Repositories(sql, accounts, new Usage(sql)).list({ uid: 0, username: "root" })).toMatchObject([
    { repo: "alice/home", kind: "home", public: false, isScaffolded: false, isArchived: false, head: null },
    { repo: "root/home", kind: "home" },
  ]);
});

it("keeps device ids, and revokes grants for devices of other users", () => {
  const sql = new MemorySql();
  migrateBy(sql, MIGRATIONS.slice(0, 10));
  sql.run("INSERT INTO devices VALUES ('laptop', 1000, '', '[]', '', '', NULL, 1, 1, 1, NULL, 0)");
  sql.run("INSERT INTO shell_sessions VALUES ('s', 'laptop', 1000, 1, NULL, NULL)");
  for (const [grantId, uid, target] of [
    ["own", 1000, "laptop"],
    ["other's", 1001, "laptop"],
    ["gateway's", 1001, "gsv"],
  ] as const) {
    const columns = sql.all("SELECT name, type FROM pragma_table_info('grants')");
    const given: Record<string, string | number | null> = { grant_id: grantId, uid, target, revoked_at: null };
    const values = columns.map(({ name, type }) => (String(name) in given ? given[String(name)]! : type === "INTEGER" ? 1 : "x"));
    sql.run(`INSERT INTO grants VALUES (${values.map(() => "?").join(", ")})`, ...values);
  }
  migrate(sql);
  expect(sql.all("SELECT device_id, name FROM devices")).toEqual([{ device_id: "laptop", name: "laptop" }]);
  expect(sql.all("SELECT target FROM shell_sessions")).toEqual([{ target: "laptop" }]);
  expect(sql.all("SELECT grant_id FROM grants WHERE revoked_at IS NULL ORDER BY grant_id")).toEqual([
    { grant_id: "gateway's" },
    { grant_id: "own" },
  ]);
});

it("turns tables with large rows into rowid tables without losing rows or indexes", () => {
  const sql = new MemorySql();
  migrateBy(sql, MIGRATIONS.slice(0, 14));
  sql.run("INSERT INTO config_kv VALUES ('users/1000/ai/a', 'x', 0), ('config/server/name', 'y', 0)");
  sql.run("INSERT INTO idempotency VALUES (1000, 'k', 'q', 'r', 0, 5)");
  sql.run("INSERT INTO file_contents VALUES ('h', x'00ff')");
  const indexes = () => sql.all("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name");
  const tables = ["config_kv", "idempotency", "file_contents", "processes", "approvals", "process_sessions"];
  const columns = () => tables.map((table) => sql.all("SELECT name, type FROM pragma_table_info(?)", table));
  const before = { indexes: indexes(), columns: columns() };
  migrateBy(sql, MIGRATIONS.slice(0, 15));
  expect({ indexes: indexes(), columns: columns() }).toEqual(before);
  expect(sql.all("SELECT * FROM config_kv ORDER BY key")).toEqual([
    { key: "config/server/name", value: "y", sealed: 0 },
    { key: "users/1000/ai/a", value: "x", sealed: 0 },
  ]);
  expect(sql.all("SELECT uid, key, result FROM idempotency")).toEqual([{ uid: 1000, key: "k", result: "r" }]);
  expect(sql.get("SELECT hex(content) AS content FROM file_contents")).toEqual({ content: "00FF" });
  for (const table of tables) expect(sql.get("SELECT sql FROM sqlite_schema WHERE name = ?", table)?.sql).not.toMatch(/WITHOUT ROWID/);
});

it("removes the default expiry from tokens of machines and services, and from no others", () => {
  const sql = new MemorySql();
  migrateBy(sql, MIGRATIONS.slice(0, 8));
  const [made, day] = [Date.now() - 86_400_000, 86_400_000];
  const add = (tokenId: string, kind: string, createdAt: number, days: number) =>
    sql.run(
      "INSERT INTO auth_tokens VALUES (?1, 1000, ?2, NULL, ?1, '', NULL, NULL, ?3, ?3, ?4, NULL, NULL)",
      tokenId,
      kind,
      createdAt,
      createdAt + days * day,
    );
  add("laptop", "node", made, 365);
  add("channel", "service", made, 365);
  add("chosen", "node", made, 30);
  add("person", "user", made, 90);
  add("over", "node", made - 400 * day, 365);
  migrate(sql);
  const tokens = new Tokens(sql, memoryCrypto(new Random("tokens")));
  const now = Date.now();
  const ends = Object.fromEntries(tokens.list().map(({ tokenId, expiresAt, endsUnusedAt }) => [tokenId, [expiresAt, endsUnusedAt]]));
  expect(ends).toEqual({
    laptop: [null, made + 365 * day],
    channel: [null, made + 365 * day],
    chosen: [made + 30 * day, null],
    person: [made + 90 * day, null],
    over: [made - 35 * day, null],
  });
  expect(tokens.list().filter((token) => isTokenLive(token, now))).toHaveLength(4);
});

function dump(sql: MemorySql): unknown {
  const tables = sql.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map((row) => String(row.name));
  return [sql.all("SELECT * FROM sqlite_schema ORDER BY name"), ...tables.map((name) => sql.all(`SELECT * FROM ${name}`))];
}
