// What a device remembers of calls with a key, within one run of the daemon and across restarts.

import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type LedgerCall, Ledger, type LedgerLimits } from "./ledger.ts";

let folder: string;
let file: string;
let now: number;
let effects: number;
const open: Ledger[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-ledger-"));
  file = join(folder, "deep", "ledger.jsonl");
  [now, effects] = [1_000_000, 0];
});
afterEach(() => {
  for (const ledger of open.splice(0)) ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

function openLedger(limits: Partial<LedgerLimits> = {}): Ledger {
  const ledger = new Ledger(file, { now: () => now, limits });
  open.push(ledger);
  return ledger;
}
const call = (key: string, more: Partial<LedgerCall> = {}): LedgerCall => ({
  key,
  call: "fs.write",
  args: { path: "x" },
  isPoll: false,
  ...more,
});
const done =
  (data: unknown = "yes") =>
  async () => {
    effects++;
    return data;
  };
const hang = () => {
  effects++;
  return new Promise<unknown>(() => {});
};
const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

it("runs a call once and returns its result each time, also after a restart", async () => {
  const ledger = openLedger();
  expect(await ledger.runOnce(call("a"), done({ ok: true }))).toEqual({ ok: true });
  expect(await ledger.runOnce(call("a"), done("other"))).toEqual({ ok: true });
  expect(await openLedger().runOnce(call("a"), done("other"))).toEqual({ ok: true });
  expect(effects).toBe(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("a repeat during the call waits for the same result", async () => {
  const ledger = openLedger();
  let end = (_: unknown) => {};
  const first = ledger.runOnce(call("a"), () => new Promise((resolve) => (end = resolve)));
  const second = ledger.runOnce(call("a"), done("other"));
  end("once");
  expect(await Promise.all([first, second])).toEqual(["once", "once"]);
  expect(effects).toBe(0);
});

it("reports an unknown outcome for a call that was started but not finished before a restart", async () => {
  void openLedger().runOnce(call("a"), hang);
  expect(await failure(openLedger().runOnce(call("a"), done()))).toMatchObject({ code: 409, details: { outcome: "unknown" } });
  expect(await failure(openLedger().runOnce(call("a"), done()))).toMatchObject({ code: 409, details: { outcome: "unknown" } });
  expect(effects).toBe(1);
});

it("remembers a failure with its code and message", async () => {
  const broken = async () => {
    effects++;
    throw Object.assign(new Error("busy"), { code: 429 });
  };
  expect(await failure(openLedger().runOnce(call("a"), broken))).toMatchObject({ code: 429, message: "busy" });
  expect(await failure(openLedger().runOnce(call("a"), broken))).toMatchObject({ code: 429, message: "busy" });
  expect(effects).toBe(1);
});

it("refuses a key that was used for another call", async () => {
  const ledger = openLedger();
  await ledger.runOnce(call("a"), done());
  expect(await failure(ledger.runOnce(call("a", { args: { path: "y" } }), done()))).toMatchObject({ code: 409 });
  expect(await failure(ledger.runOnce(call("a", { call: "fs.delete" }), done()))).toMatchObject({ code: 409 });
  expect(effects).toBe(1);
});

it("skips an unfinished line", async () => {
  await openLedger().runOnce(call("a"), done(1));
  appendFileSync(file, '\n{"key":"b","dig');
  const next = openLedger();
  expect(await next.runOnce(call("a"), done())).toBe(1);
  expect(await next.runOnce(call("b"), done(2))).toBe(2);
  expect(await openLedger().runOnce(call("b"), done())).toBe(2);
  expect(effects).toBe(2);
});

it("remembers that a call was done even if its result was too large or was evicted", async () => {
  const ledger = openLedger({ resultBytes: 100, results: 2 });
  await ledger.runOnce(call("large"), done("x".repeat(200)));
  for (const key of ["a", "b", "c"]) await ledger.runOnce(call(key), done(key));
  for (const reopened of [ledger, openLedger({ results: 2 })]) {
    expect(await failure(reopened.runOnce(call("large"), done()))).toMatchObject({ code: 409, details: { outcome: "done" } });
    expect(await failure(reopened.runOnce(call("a"), done()))).toMatchObject({ code: 409, details: { outcome: "done" } });
    expect(await reopened.runOnce(call("c"), done())).toBe("c");
  }
  expect(effects).toBe(4);
});

it("refuses new keys rather than forget one within a day", async () => {
  const ledger = openLedger({ keys: 2 });
  for (const key of ["a", "b"]) await ledger.runOnce(call(key), done());
  expect(await failure(ledger.runOnce(call("c"), done()))).toMatchObject({ code: 429, details: { takesKey: false } });
  now += 24 * 60 * 60 * 1000;
  await ledger.runOnce(call("c"), done());
  expect(effects).toBe(3);
});

it("keeps the answer to a poll until a restart, and polls again after it", async () => {
  const ledger = openLedger({ results: 1 });
  const look = (key: string) => call(key, { call: "shell.exec", isPoll: true });
  expect(await ledger.runOnce(look("a"), done("out"))).toBe("out");
  expect(await ledger.runOnce(look("a"), done("more"))).toBe("out");
  await ledger.runOnce(look("b"), done());
  expect(await ledger.runOnce(look("a"), done("later"))).toBe("later");
  expect(await openLedger().runOnce(look("a"), done("new"))).toBe("new");
  expect(readFileSync(file, "utf8")).toBe("");
});

it("compacts its file without losing entries", async () => {
  const ledger = openLedger({ fileBytes: 2_000, results: 4 });
  for (let at = 0; at < 20; at++) await ledger.runOnce(call(`k${at}`), done(`${at}`.padStart(200)));
  expect(statSync(file).size).toBeLessThan(5_000);
  void ledger.runOnce(call("begun"), hang);
  const next = openLedger({ results: 4 });
  expect(await next.runOnce(call("k19"), done())).toBe("19".padStart(200));
  for (let at = 0; at < 16; at++)
    expect(await failure(next.runOnce(call(`k${at}`), done()))).toMatchObject({ details: { outcome: "done" } });
  expect(await failure(next.runOnce(call("begun"), done()))).toMatchObject({ details: { outcome: "unknown" } });
  expect(effects).toBe(21);
});
