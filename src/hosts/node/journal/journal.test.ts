// The journal with real files: what it promises after a crash at any byte, after a power failure that leaves databases of any
// earlier moment, and what it refuses. `trust:crash` kills real gateways inside it.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { yieldToEventLoop } from "../../../lib/yield.ts";
import { type SqlValue, StorageError } from "../../../ports/sql.ts";
import { Journal } from "./journal.ts";
import { JournaledSql } from "./journaled-sql.ts";
import { decodeSegment, type Entry, HEADER, RecordEncoder } from "./record.ts";
import { recoverJournal } from "./recover.ts";
import { journalFolder, listSegments } from "./segment.ts";

const KERNEL = "kernel.db";
const PROCESS = "processes/init-1.db";

let root: string;
let journal: Journal;
let kernel: JournaledSql;
let process: JournaledSql;
let fatal: unknown[];
let copies: number;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "gsv-journal-"));
  mkdirSync(join(root, "processes"));
  fatal = [];
  copies = 0;
  journal = new Journal(root, (error) => fatal.push(error));
  kernel = open(KERNEL);
  process = open(PROCESS);
});

afterEach(() => {
  kernel.close();
  process.close();
  rmSync(root, { recursive: true, force: true });
  expect(fatal).toEqual([]);
});

describe("after a crash", () => {
  it("has everything that was promised, to whichever file", () => {
    add(kernel, 1);
    add(process, 2);
    journal.flush();
    add(kernel, 3);
    journal.flush();
    expect(read(root)).toEqual([[], []]);
    expect(recovered(crash())).toEqual([[1, 3], [2]]);
  });

  it("has all of a turn or nothing, wherever the journal was cut", () => {
    const promised: number[][][] = [[[], []]];
    const sizes = [sizeOfJournal()];
    for (let turn = 1; turn <= 3; turn++) {
      add(kernel, turn);
      process.transaction(() => add(process, 10 * turn));
      journal.flush();
      promised.push([promised.at(-1)![0]!.concat(turn), promised.at(-1)![1]!.concat(10 * turn)]);
      sizes.push(sizeOfJournal());
    }
    for (let size = 0; size <= sizes.at(-1)!; size += 3) {
      const home = crash();
      truncateSync(listSegments(journalFolder(home)).at(-1)!, size);
      const turns = sizes.filter((whole) => whole <= size).length - 1;
      expect(recovered(home), `cut at ${size}`).toEqual(promised[Math.max(0, turns)]);
    }
  });

  it("takes a record with a wrong bit for the end", () => {
    add(kernel, 1);
    journal.flush();
    const whole = sizeOfJournal();
    add(kernel, 2);
    journal.flush();
    const home = crash();
    const path = listSegments(journalFolder(home)).at(-1)!;
    const bytes = readFileSync(path);
    bytes[whole + 12]! ^= 1;
    writeFileSync(path, bytes);
    expect(recovered(home)[0]).toEqual([1]);
  });

  it("recovers the same state from databases of any earlier moment, however batches, commits and failures mix", () => {
    type Step = { file: 0 | 1; values: number[]; fails: boolean; relaxed: boolean } | "flush" | "commit";
    const step: fc.Arbitrary<Step> = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          file: fc.constantFrom(0 as const, 1 as const),
          values: fc.array(fc.nat(), { maxLength: 3 }),
          fails: fc.boolean(),
          relaxed: fc.boolean(),
        }),
      },
      { weight: 3, arbitrary: fc.constant("flush" as const) },
      { weight: 1, arbitrary: fc.constant("commit" as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const files = [kernel, process];
        const moments = [databasesOnly()];
        for (const one of steps) {
          if (one === "flush") journal.flush();
          else if (one === "commit") for (const file of files) commit(file);
          else attempt(files[one.file]!, one);
          if (one === "commit") moments.push(databasesOnly());
        }
        journal.flush();
        const now = [rowsOf(kernel), rowsOf(process)];
        expect(recovered(crash())).toEqual(now);
        for (const moment of moments) {
          cpSync(journalFolder(root), journalFolder(moment), { recursive: true });
          expect(recovered(moment)).toEqual(now);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("can be interrupted and done again", () => {
    add(kernel, 1);
    journal.flush();
    const home = crash();
    recoverJournal(home);
    expect(listSegments(journalFolder(home))).toEqual([]);
    // It died before it had removed the journal.
    cpSync(journalFolder(root), journalFolder(home), { recursive: true });
    expect(recovered(home)).toEqual([[1], []]);
  });

  it("applies nothing to a database that was replaced by an older one, and says so", () => {
    const home = crash();
    writeJournal(home, { file: KERNEL, version: 7, writes: [["INSERT INTO t VALUES (?)", [2]]] });
    expect(() => recoverJournal(home)).toThrow(/is older than the journal, which continues from version 6 of it, not 1/);
    expect([read(home), listSegments(journalFolder(home)).length]).toEqual([[[], []], 1]);
  });

  it("applies nothing if the journal has a version twice", () => {
    const home = crash();
    const entry = (value: number) => ({ file: KERNEL, version: 2, writes: [["INSERT INTO t VALUES (?)", [value]]] as const });
    writeJournal(home, entry(1), entry(2));
    expect(() => recoverJournal(home)).toThrow(/continues from version 1 of it, not 2/);
    expect(read(home)).toEqual([[], []]);
  });

  it("skips a database that was removed, and names it", () => {
    const home = crash();
    writeJournal(home, { file: PROCESS, version: 7, writes: [["INSERT INTO t VALUES (?)", [2]]] });
    rmSync(join(home, PROCESS));
    expect(recoverJournal(home)).toEqual({ batches: 0, missing: [PROCESS] });
  });

  it("refuses a damaged segment before the last, and one of another version", () => {
    add(kernel, 1);
    journal.flush();
    const home = crash();
    const [path] = listSegments(journalFolder(home));
    cpSync(path!, path!.replace("1.log", "2.log"));
    truncateSync(path!, statSync(path!).size - 1);
    expect(() => recoverJournal(home)).toThrow(/is damaged/);
    writeFileSync(path!, "gsv journal 2\n");
    expect(() => recoverJournal(home)).toThrow(/not written by this version/);
  });
});

describe("a batch", () => {
  it("holds frames until the record of the turn is synced, and is committed later", async () => {
    add(kernel, 1);
    expect(kernel.isHoldingFrames).toBe(true);
    await kernel.waitUntilDurable();
    expect([kernel.isHoldingFrames, read(root)[0]]).toEqual([false, []]);
    await expect.poll(() => read(root)[0], { timeout: 5_000 }).toEqual([1]);
  });

  it("that begins while another is being synced ends after it, and holds what was sent since", async () => {
    const ends: string[] = [];
    const note = (name: string) =>
      kernel.whenBatchEnds((failure) => ends.push(`${name} ${failure === null ? rowsAfterCrash() : "failed"}`));
    const rowsAfterCrash = () => JSON.stringify(recovered(crash())[0]);
    add(kernel, 1);
    const first = kernel.awaitedBatch;
    note("first");
    await yieldToEventLoop();
    // Written, and now another thread waits for the disk.
    expect([kernel.isHoldingFrames, kernel.hasBatch, kernel.awaitedBatch]).toEqual([true, false, first]);
    note("also first");
    add(kernel, 2);
    expect(kernel.awaitedBatch).toBe(first + 1);
    note("second");
    await kernel.waitUntilDurable();
    expect(ends).toEqual(["first [1]", "also first [1]", "second [1,2]"]);
    expect(kernel.isHoldingFrames).toBe(false);
  });

  it("of the relaxed lane is in the record of the next turn that somebody waits for", async () => {
    process.runRelaxed(() => add(process, 1));
    expect(process.isHoldingFrames).toBe(false);
    add(kernel, 2);
    await kernel.waitUntilDurable();
    expect(recovered(crash())).toEqual([[2], [1]]);
  });

  it("of a database that is about to be committed is synced together with those of seven others", async () => {
    const others = Array.from({ length: 14 }, (_, at) => open(`processes/init-${at + 2}.db`));
    const files = [kernel, process, ...others];
    const committed = new Set<JournaledSql>();
    const isDone = () => committed.size === files.length;
    const writeToAll = () => {
      if (!isDone()) for (const file of files) file.runRelaxed(() => add(file, 2));
    };
    for (const file of files) {
      add(file, 1);
      const commitJournaled = file.commitJournaled.bind(file);
      vi.spyOn(file, "commitJournaled").mockImplementation(() => {
        committed.add(file);
        // In the next turn of the event loop all of them have an open batch again.
        setImmediate(writeToAll);
        return commitJournaled();
      });
    }
    journal.flush();
    const before = journal.syncs;
    await vi.waitUntil(isDone, { timeout: 5_000, interval: 1 });
    expect(journal.syncs - before).toBeLessThan(4);
    for (const file of others) file.close();
  });

  it("that SQLite rolled back fails together with all others of the turn, and nothing earlier is lost", async () => {
    const other = new DatabaseSync(join(root, KERNEL));
    other.exec("CREATE TRIGGER spoil AFTER INSERT ON t WHEN NEW.a = 99 BEGIN SELECT RAISE(ROLLBACK, 'spoiled'); END");
    other.close();
    add(kernel, 1);
    add(process, 2);
    journal.flush();
    const failures: string[] = [];
    for (const [name, sql] of Object.entries({ kernel, process })) sql.onFailure(() => failures.push(name));
    add(process, 3);
    const waits = process.waitUntilDurable();
    expect(() => add(kernel, 99)).toThrow(StorageError);
    // The rows of earlier turns, which were not committed, are there in this turn already.
    expect(rowsOf(kernel)).toEqual([1]);
    expect(() => add(kernel, 4)).toThrow(StorageError);
    await expect(waits).rejects.toBeInstanceOf(StorageError);
    expect(failures.toSorted()).toEqual(["kernel", "process"]);
    expect([rowsOf(kernel), rowsOf(process)]).toEqual([[1], [2]]);
    add(kernel, 5);
    await kernel.waitUntilDurable();
    expect(recovered(crash())).toEqual([[1, 5], [2]]);
  });

  it("of a file that is closed while it cannot be committed is not lost, and the file opens again when it could be", () => {
    add(kernel, 1);
    add(process, 2);
    journal.flush();
    const exec = Reflect.get(DatabaseSync.prototype, "exec");
    const full = vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(function (this: DatabaseSync, query) {
      if (query === "COMMIT") throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
      exec.call(this, query);
    });
    process.close();
    expect(() => open(PROCESS)).toThrow(StorageError);
    kernel.commitJournaled();
    expect(() => add(kernel, 3)).toThrow(StorageError);
    expect(rowsOf(kernel)).toEqual([1]);
    full.mockRestore();
    expect(recovered(crash())).toEqual([[1], [2]]);
    process = open(PROCESS);
    add(process, 4);
    add(kernel, 5);
    journal.flush();
    expect([rowsOf(process), recovered(crash())]).toEqual([
      [2, 4],
      [
        [1, 5],
        [2, 4],
      ],
    ]);
  });

  it("keeps every kind of value", () => {
    const values: SqlValue[] = [
      "",
      "a\0b",
      "ü€😀",
      "\ud800",
      0,
      -1.5,
      2 ** 53 - 1,
      1.5e-7,
      Infinity,
      null,
      new Uint8Array([0, 255]),
      new Uint8Array(0),
    ];
    for (const value of values) kernel.run("INSERT INTO t VALUES (?)", value);
    journal.flush();
    const home = crash();
    recoverJournal(home);
    const database = new DatabaseSync(join(home, KERNEL));
    const found = database.prepare("SELECT a FROM t ORDER BY rowid").all();
    database.close();
    expect(found.map((row) => row.a)).toEqual(kernel.all("SELECT a FROM t ORDER BY rowid").map((row) => row.a));
  });
});

describe("segments", () => {
  it("name each text once, also when a record could not be written", () => {
    const encoder = new RecordEncoder();
    const entry = (version: number, ...queries: string[]) => ({
      file: KERNEL,
      version,
      writes: queries.map((query) => [query, [version]] as const),
    });
    const first = encoder.encode([entry(1, "A", "B", "A")]);
    first.keep();
    encoder.encode([entry(2, "LOST", "B")]);
    const second = encoder.encode([entry(2, "C", "A")]);
    second.keep();
    const third = encoder.encode([entry(3, "C")]);
    const { entries, isWhole } = decodeSegment(Buffer.concat([HEADER, first.bytes, second.bytes, third.bytes]));
    expect(isWhole).toBe(true);
    expect(entries).toEqual([entry(1, "A", "B", "A"), entry(2, "C", "A"), entry(3, "C")]);
    expect(third.bytes.includes("C")).toBe(false);
  });

  it("are replaced when they are full, and removed when the databases have what is in them", async () => {
    const large = "x".repeat(1_000_000);
    for (let at = 0; at < 10; at++) {
      kernel.run("INSERT INTO t VALUES (?)", large);
      await kernel.waitUntilDurable();
      add(process, at);
      await process.waitUntilDurable();
    }
    expect(listSegments(journalFolder(root))).toHaveLength(2);
    expect(recovered(crash()).map((rows) => rows.length)).toEqual([10, 10]);
    await expect.poll(() => listSegments(journalFolder(root)).length, { timeout: 10_000 }).toBe(1);
    add(process, 10);
    await process.waitUntilDurable();
    expect(recovered(crash()).map((rows) => rows.length)).toEqual([10, 11]);
  });

  it("are gone after a clean shutdown", async () => {
    add(kernel, 1);
    add(process, 2);
    kernel.close();
    process.close();
    await journal.close();
    expect([readdirSync(journalFolder(root)), read(root)]).toEqual([[], [[1], [2]]]);
    journal = new Journal(root, (error) => fatal.push(error));
    kernel = open(KERNEL);
    process = open(PROCESS);
    add(kernel, 3);
    journal.flush();
    expect(recovered(crash())).toEqual([[1, 3], [2]]);
  });
});

function open(name: string): JournaledSql {
  const sql = new JournaledSql(root, name, journal, (error) => fatal.push(error));
  if (sql.get("SELECT 1 AS there FROM sqlite_schema WHERE name = 't'") === undefined) {
    sql.run("CREATE TABLE t (a)");
    commit(sql);
  }
  return sql;
}

function add(sql: JournaledSql, value: number): void {
  sql.run("INSERT INTO t VALUES (?)", value);
}

function attempt(sql: JournaledSql, { values, fails, relaxed }: { values: number[]; fails: boolean; relaxed: boolean }): void {
  const write = () =>
    sql.transaction(() => {
      for (const value of values) add(sql, value);
      sql.run("DELETE FROM t WHERE a % 7 = ? OR rowid = (SELECT max(rowid) - 3 FROM t)", values.length);
      if (fails) throw new Error("on purpose");
    });
  try {
    if (relaxed) sql.runRelaxed(write);
    else write();
  } catch (error) {
    if (!fails) throw error;
  }
}

/** What happens a second later by itself. */
function commit(sql: JournaledSql): void {
  journal.flush();
  sql.commitJournaled();
}

/** A copy of the data directory as a killed gateway leaves it. */
function crash(): string {
  const home = join(root, `crash-${++copies}`);
  mkdirSync(home);
  for (const name of readdirSync(root))
    if (!name.startsWith("crash-") && !name.endsWith("-shm")) cpSync(join(root, name), join(home, name), { recursive: true });
  return home;
}

function writeJournal(home: string, ...entries: Entry[]): void {
  const [path] = listSegments(journalFolder(home));
  writeFileSync(path!, Buffer.concat([HEADER, new RecordEncoder().encode(entries).bytes]));
}

function databasesOnly(): string {
  const home = crash();
  rmSync(journalFolder(home), { recursive: true });
  return home;
}

function recovered(home: string): unknown[][] {
  recoverJournal(home);
  const rows = read(home);
  rmSync(home, { recursive: true });
  return rows;
}

/** The rows of both databases in a data directory, as another program sees them. */
function read(home: string): unknown[][] {
  return [KERNEL, PROCESS].map((name) => {
    const database = new DatabaseSync(join(home, name), { readOnly: true });
    const rows = database.prepare("SELECT a FROM t ORDER BY rowid").all();
    database.close();
    return rows.map((row) => row.a);
  });
}

function rowsOf(sql: JournaledSql): unknown[] {
  return sql.all("SELECT a FROM t ORDER BY rowid").map((row) => row.a);
}

function sizeOfJournal(): number {
  return statSync(listSegments(journalFolder(root)).at(-1)!).size;
}
