// The Node host's Sql port on a real file: savepoints, what holds frames back and what does not, the rules that keep code
// portable, and failed commits.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StorageError, type SqlValue } from "../../ports/sql.ts";
import { NodeSql } from "./sql.ts";

let home: string;
let file: string;
let sql: NodeSql;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "gsv-sql-"));
  file = join(home, "test.db");
  sql = new NodeSql(file, (error) => {
    throw error;
  });
  sql.run("CREATE TABLE t (a) ");
  sql.commit();
  // The end of the turn commits once more; wait for it now, so that it does not happen in the middle of a test.
  await turn();
});

afterEach(() => {
  sql.close();
  rmSync(home, { recursive: true, force: true });
});

describe("transactions", () => {
  it("nest as savepoints, like a list that models them", () => {
    type Step = { write: number } | { nest: Step[]; fails: boolean };
    const { steps } = fc.letrec<{ steps: Step[]; step: Step }>((tie) => ({
      steps: fc.array(tie("step"), { maxLength: 4 }),
      step: fc.oneof(
        { maxDepth: 4 },
        fc.record({ write: fc.integer({ min: 0, max: 999 }) }),
        fc.record({ nest: tie("steps"), fails: fc.boolean() }),
      ),
    }));
    const perform = (list: readonly Step[], kept: number[]): void => {
      for (const step of list) {
        if ("write" in step) {
          add(step.write);
          kept.push(step.write);
          continue;
        }
        const inner: number[] = [];
        try {
          sql.transaction(() => {
            perform(step.nest, inner);
            if (step.fails) throw new Error("on purpose");
          });
          kept.push(...inner);
        } catch (error) {
          if (!(error instanceof Error) || error.message !== "on purpose") throw error;
        }
      }
    };
    fc.assert(
      fc.property(steps, fc.boolean(), (list, commits) => {
        const before = rows();
        const kept: number[] = [];
        perform(list, kept);
        if (commits) sql.commit();
        expect(rows()).toEqual([...before, ...kept]);
      }),
      { numRuns: 100 },
    );
  });

  it("open no batch if they only read", () => {
    sql.transaction(() => sql.transaction(() => rows()));
    expect(sql.isHoldingFrames).toBe(false);
  });

  it("keep the batch and its earlier writes after an inner failure", () => {
    add(1);
    expect(() =>
      sql.transaction(() => {
        add(2);
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(sql.isHoldingFrames).toBe(true);
    sql.commit();
    expect(onDisk()).toEqual([1]);
  });
});

describe("batches", () => {
  it("hold frames from the first write to the commit, and are on disk afterwards", async () => {
    add(1);
    expect([sql.isHoldingFrames, onDisk()]).toEqual([true, []]);
    await sql.waitUntilDurable();
    expect([sql.isHoldingFrames, onDisk()]).toEqual([false, [1]]);
  });

  it("end with the turn of the event loop and commit all its writes together", async () => {
    const ends: unknown[] = [];
    add(1);
    sql.whenBatchEnds((failure) => ends.push(failure, onDisk()));
    await Promise.resolve();
    add(2);
    expect(ends).toEqual([]);
    await turn();
    expect(ends).toEqual([null, [1, 2]]);
  });

  it("are durable at once if none is open", async () => {
    await sql.waitUntilDurable();
    expect(sql.isHoldingFrames).toBe(false);
  });

  it("of the relaxed lane hold no frame and commit with the next batch that does", async () => {
    sql.runRelaxed(() => sql.transaction(() => add(1)));
    expect([sql.isHoldingFrames, rows(), onDisk()]).toEqual([false, [1], []]);
    await turn();
    expect(onDisk()).toEqual([]);
    add(2);
    expect(sql.isHoldingFrames).toBe(true);
    await sql.waitUntilDurable();
    expect(onDisk()).toEqual([1, 2]);
  });

  it("of the relaxed lane commit by themselves after a while", async () => {
    sql.runRelaxed(() => add(1));
    await expect.poll(onDisk).toEqual([1]);
  });

  it("that were already open keep holding frames when relaxed rows are added", () => {
    add(1);
    sql.runRelaxed(() => add(2));
    expect(sql.isHoldingFrames).toBe(true);
  });
});

describe("a failed commit", () => {
  beforeEach(() => {
    const other = new DatabaseSync(file);
    other.exec(
      "CREATE TABLE parent (a INTEGER PRIMARY KEY); CREATE TABLE child (a INTEGER REFERENCES parent(a) DEFERRABLE INITIALLY DEFERRED)",
    );
    other.close();
  });

  it("keeps nothing, notifies everybody who waited, and the database stays usable", async () => {
    const order: string[] = [];
    sql.onFailure(() => order.push("memory"));
    add(1);
    sql.runRelaxed(() => add(2));
    // A deferred foreign key, which only the commit checks and which fails.
    sql.run("INSERT INTO child VALUES (99)");
    sql.whenBatchEnds((failure) => order.push(failure instanceof StorageError && !failure.full ? "waiting" : "wrong"));
    const durable = sql.waitUntilDurable();
    sql.commit();
    await expect(durable).rejects.toBeInstanceOf(StorageError);
    expect(order.toSorted()).toEqual(["memory", "waiting"]);
    expect([sql.isHoldingFrames, rows(), onDisk()]).toEqual([false, [], []]);
    add(3);
    await sql.waitUntilDurable();
    expect(onDisk()).toEqual([3]);
  });
});

describe("the rules that keep code portable", () => {
  it("refuse statements that the other host refuses", () => {
    const bad: [string, RegExp][] = [
      ["BEGIN", /belong to the port/],
      ["  commit", /belong to the port/],
      ["PRAGMA journal_mode", /belong to the port/],
      ["INSERT INTO t VALUES (1); DELETE FROM t", /one statement/],
      ["SELECT a FROM t", /not for SELECT/],
      ["CREATE TABLE c (a REFERENCES t DEFERRABLE INITIALLY DEFERRED)", /checked by the statement/],
      [`INSERT INTO t VALUES (1) -- ${"x".repeat(100_000)}`, /too long/],
    ];
    for (const [query, message] of bad) expect(() => sql.run(query), query.slice(0, 40)).toThrow(message);
    expect(() => sql.all("DELETE FROM t")).toThrow(/for SELECT/);
    sql.run("INSERT INTO t VALUES ('a; BEGIN')");
    expect(rows()).toEqual(["a; BEGIN"]);
  });

  it("bind strings, numbers, null and bytes, and read them back unchanged", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.constant("a\0b"),
          fc.maxSafeInteger(),
          fc.double({ noNaN: true }),
          fc.constant(null),
          fc.uint8Array(),
        ),
        (value: SqlValue) => {
          if (typeof value === "string" && !value.isWellFormed()) return;
          if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) return;
          const found = sql.get("SELECT ? AS v", value)?.v;
          // SQLite has one zero.
          expect(typeof found === "number" ? found + 0 : found).toEqual(typeof value === "number" ? value + 0 : value);
        },
      ),
    );
  });

  it("refuse other types and the wrong number of bindings", () => {
    for (const value of [true, 1n, undefined, {}, 2 ** 53, -(2 ** 53)] as SqlValue[])
      expect(() => sql.run("INSERT INTO t VALUES (?)", value), String(value)).toThrow(/^SQL:/);
    expect(() => sql.run("INSERT INTO t VALUES (?)")).toThrow("0 bindings for 1 places");
    expect(() => sql.run("INSERT INTO t VALUES (?)", 1, 2)).toThrow("2 bindings for 1 places");
    sql.run("INSERT INTO t VALUES (?1 || '?' || ?1)", "x");
    expect(rows()).toEqual(["x?x"]);
    expect(sql.isHoldingFrames).toBe(true);
  });

  it("enforce their limits exactly", () => {
    const marks = (count: number) =>
      sql.get(`SELECT ${Array.from({ length: count }, () => "?").join(" + ")} AS n`, ...Array.from({ length: count }, () => 1))?.n;
    expect([99, 100].map(marks)).toEqual([99, 100]);
    expect(() => marks(101)).toThrow("at most 100");
    const size = (value: SqlValue) => sql.get("SELECT length(?) AS n", value)?.n;
    expect([size("a".repeat(2_000_000)), size("é".repeat(1_000_000)), size(new Uint8Array(2_000_000))]).toEqual([
      2_000_000, 1_000_000, 2_000_000,
    ]);
    for (const value of ["a".repeat(2_000_001), "é".repeat(1_000_001), new Uint8Array(2_000_001)])
      expect(() => size(value)).toThrow("a value over 2 MB");
  });

  it("check foreign keys", () => {
    sql.run("CREATE TABLE p (a INTEGER PRIMARY KEY)");
    sql.run("CREATE TABLE c (a INTEGER REFERENCES p(a))");
    expect(() => sql.run("INSERT INTO c VALUES (1)")).toThrow(/FOREIGN KEY/);
  });
});

function add(value: number): void {
  sql.run("INSERT INTO t VALUES (?)", value);
}

function rows(): unknown[] {
  return sql.all("SELECT a FROM t ORDER BY rowid").map((row) => row.a);
}

/** The rows another process would see. */
function onDisk(): unknown[] {
  const other = new DatabaseSync(file, { readOnly: true });
  const found = other.prepare("SELECT a FROM t ORDER BY rowid").all();
  other.close();
  return found.map((row) => row.a);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
