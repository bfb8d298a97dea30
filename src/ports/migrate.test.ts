// Migrations: each step is all or nothing, a start after a crash resumes where it stopped, and data of a newer GSV stays
// untouched.

import { describe, expect, it } from "vitest";
import { MemorySql } from "../../test/support/memory-ports.ts";
import { type Migration, migrate } from "./migrate.ts";

const FIRST: Migration = { version: 1, statements: ["CREATE TABLE one (a TEXT) STRICT", "INSERT INTO one VALUES ('kept')"] };
const SECOND: Migration = { version: 2, statements: ["CREATE TABLE two (a TEXT) STRICT", "INSERT INTO two SELECT a FROM one"] };
const BROKEN: Migration = {
  version: 2,
  statements: ["CREATE TABLE two (a TEXT) STRICT", "DELETE FROM one", "INSERT INTO nowhere VALUES (1)"],
};

describe("migrate", () => {
  it("continues after the last finished step", () => {
    const sql = new MemorySql();
    migrate(sql, [FIRST]);
    sql.commit();
    migrate(sql, [FIRST, SECOND]);
    expect(version(sql)).toBe(2);
    expect(sql.get("SELECT a FROM two")).toEqual({ a: "kept" });
  });

  it("rolls back a failed step completely, and runs it again once it is fixed", () => {
    const sql = new MemorySql();
    expect(() => migrate(sql, [FIRST, BROKEN])).toThrow(/nowhere/);
    expect(version(sql)).toBe(1);
    expect(sql.get("SELECT a FROM one")).toEqual({ a: "kept" });
    expect(tables(sql)).not.toContain("two");
    migrate(sql, [FIRST, SECOND]);
    expect(version(sql)).toBe(2);
  });

  it("starts from scratch after a crash before the first commit, and resumes after a later crash", () => {
    const sql = new MemorySql();
    migrate(sql, [FIRST]);
    sql.crash();
    expect(tables(sql)).toEqual([]);
    migrate(sql, [FIRST]);
    sql.commit();
    migrate(sql, [FIRST, SECOND]);
    sql.crash();
    expect(tables(sql)).toEqual(["one", "schema_version"]);
    migrate(sql, [FIRST, SECOND]);
    sql.commit();
    sql.crash();
    expect(sql.get("SELECT a FROM two")).toEqual({ a: "kept" });
  });

  it("refuses data of a newer GSV without touching it", () => {
    const sql = new MemorySql();
    migrate(sql, [FIRST, SECOND]);
    sql.commit();
    const before = dump(sql);
    expect(() => migrate(sql, [FIRST])).toThrow("newer GSV (schema 2; this one knows up to 1)");
    sql.commit();
    expect(dump(sql)).toEqual(before);
  });
});

function version(sql: MemorySql): unknown {
  return sql.get("SELECT version FROM schema_version")?.version;
}

function tables(sql: MemorySql): string[] {
  return sql.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map((row) => String(row.name));
}

function dump(sql: MemorySql): unknown {
  return [sql.all("SELECT * FROM sqlite_schema ORDER BY name"), ...tables(sql).map((name) => sql.all(`SELECT * FROM ${name}`))];
}
