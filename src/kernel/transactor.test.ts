// One write, one transaction: what throws leaves neither rows nor things to do afterwards, and what was remembered of
// the rows is forgotten.

import { beforeEach, describe, expect, it } from "vitest";
import { MemorySql } from "../../test/support/memory-ports.ts";
import { Transactor } from "./transactor.ts";

let sql: MemorySql;
let forgotten: number;
let transactor: Transactor;

beforeEach(() => {
  sql = new MemorySql();
  sql.run("CREATE TABLE t (a INTEGER) STRICT");
  forgotten = 0;
  transactor = new Transactor(sql, () => forgotten++);
});

describe("run", () => {
  it("returns the value and what is to be done, and does none of it", () => {
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

  it("keeps nothing of a body that throws", () => {
    add(1);
    expect(() =>
      transactor.run(() => {
        add(2);
        transactor.after(() => {});
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(rows()).toEqual([1]);
    expect(forgotten).toBe(1);
    expect(transactor.run(() => {}).after).toEqual([]);
    expect(forgotten).toBe(1);
  });

  it("nests: an inner write that fails and is caught takes only its own with it", () => {
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
  it("holds no frame back until something that matters is written", () => {
    sql.commit();
    transactor.relaxed(() => add(1));
    expect(sql.holds).toBe(false);
    transactor.run(() => add(2));
    expect(sql.holds).toBe(true);
    sql.commit();
    expect(rows()).toEqual([1, 2]);
  });

  it("is as much all or nothing as any other write, and a crash takes it", () => {
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

it("takes nothing to do outside a write", () => {
  expect(() => transactor.after(() => {})).toThrow("inside of a write");
});

function add(value: number): void {
  sql.run("INSERT INTO t VALUES (?)", value);
}

function rows(): unknown[] {
  return sql.all("SELECT a FROM t ORDER BY rowid").map((row) => row.a);
}
