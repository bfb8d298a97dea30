// One write is one transaction: a body that throws leaves neither rows nor `after` actions, and caches are told of the rollback.

import { beforeEach, describe, expect, it } from "vitest";
import { MemorySql } from "../../test/support/memory-ports.ts";
import { Transactor } from "./transactor.ts";

let sql: MemorySql;
let rollbacks: number;
let transactor: Transactor;

beforeEach(() => {
  sql = new MemorySql();
  sql.run("CREATE TABLE t (a INTEGER) STRICT");
  rollbacks = 0;
  transactor = new Transactor(sql, () => rollbacks++);
});

describe("run", () => {
  it("returns the value and the after actions without running them", () => {
    const done: string[] = [];
    const written = transactor.run(() => {
      add(1);
      transactor.after(() => done.push("one"));
      transactor.after(() => done.push("two"));
      return "value";
    });
    expect(written.value).toBe("value");
    expect(done).toEqual([]);
    for (const action of written.after) action();
    expect(done).toEqual(["one", "two"]);
    expect(rows()).toEqual([1]);
  });

  it("rolls back a body that throws and discards its after actions", () => {
    add(1);
    expect(() =>
      transactor.run(() => {
        add(2);
        transactor.after(() => {});
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(rows()).toEqual([1]);
    expect(rollbacks).toBe(1);
    expect(transactor.run(() => {}).after).toEqual([]);
    expect(rollbacks).toBe(1);
  });

  it("nests: an inner write that throws and is caught rolls back only its own changes", () => {
    const outer = transactor.run(() => {
      add(1);
      transactor.after(() => {});
      expect(() =>
        transactor.run(() => {
          add(2);
          transactor.after(() => {});
          throw new Error("inner");
        }),
      ).toThrow("inner");
      const inner = transactor.run(() => {
        add(3);
        transactor.after(() => {});
      });
      expect(inner.after.length).toBe(1);
      add(4);
    });
    expect(outer.after.length).toBe(1);
    expect(rows()).toEqual([1, 3, 4]);
  });
});

describe("relaxed", () => {
  it("holds frames back only once an ordinary write is in the batch", () => {
    sql.commit();
    transactor.relaxed(() => add(1));
    expect(sql.holds).toBe(false);
    transactor.run(() => add(2));
    expect(sql.holds).toBe(true);
    sql.commit();
    expect(rows()).toEqual([1, 2]);
  });

  it("is atomic like any other write, and is lost in a crash", () => {
    sql.commit();
    expect(() =>
      transactor.relaxed(() => {
        add(1);
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(rows()).toEqual([]);
    transactor.relaxed(() => add(2));
    sql.crash();
    expect(rows()).toEqual([]);
  });
});

it("refuses after() outside a write", () => {
  expect(() => transactor.after(() => {})).toThrow("inside a write");
});

function add(value: number): void {
  sql.run("INSERT INTO t VALUES (?)", value);
}

function rows(): unknown[] {
  return sql.all("SELECT a FROM t ORDER BY rowid").map((row) => row.a);
}
