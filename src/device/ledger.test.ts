// What a device remembers of calls with a key, in one life of the daemon and over several.

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

function life(limits: Partial<LedgerLimits> = {}): Ledger {
  const ledger = new Ledger(file, { now: () => now, limits });
  open.push(ledger);
  return ledger;
}
const call = (key: string, more: Partial<LedgerCall> = {}): LedgerCall => ({
  key,
  call: "fs.write",
  args: { path: "x" },
  isLook: false,
  ...more,
});
const done =
  (data: unknown = "yes") =>
  async () => {
    effects++;
    return data;
  };
const never = () => {
  effects++;
  return new Promise<unknown>(() => {});
};
const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

it("does a thing once and tells its result each time, in the next life as well", async () => {
  const ledger = life();
  expect(await ledger.once(call("a"), done({ ok: true }))).toEqual({ ok: true });
  expect(await ledger.once(call("a"), done("other"))).toEqual({ ok: true });
  expect(await life().once(call("a"), done("other"))).toEqual({ ok: true });
  expect(effects).toBe(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("lets whoever asks again meanwhile wait for the same end", async () => {
  const ledger = life();
  let end = (_: unknown) => {};
  const first = ledger.once(call("a"), () => new Promise((resolve) => (end = resolve)));
  const second = ledger.once(call("a"), done("other"));
  end("once");
  expect(await Promise.all([first, second])).toEqual(["once", "once"]);
  expect(effects).toBe(0);
});

it("says of what an earlier life began and did not end that nobody knows", async () => {
  void life().once(call("a"), never);
  expect(await failure(life().once(call("a"), done()))).toMatchObject({ code: 409, details: { outcome: "unknown" } });
  expect(await failure(life().once(call("a"), done()))).toMatchObject({ code: 409, details: { outcome: "unknown" } });
  expect(effects).toBe(1);
});

it("remembers a failure as it was", async () => {
  const broken = async () => {
    effects++;
    throw Object.assign(new Error("busy"), { code: 429 });
  };
  expect(await failure(life().once(call("a"), broken))).toMatchObject({ code: 429, message: "busy" });
  expect(await failure(life().once(call("a"), broken))).toMatchObject({ code: 429, message: "busy" });
  expect(effects).toBe(1);
});

it("refuses a key that was used for something else", async () => {
  const ledger = life();
  await ledger.once(call("a"), done());
  expect(await failure(ledger.once(call("a", { args: { path: "y" } }), done()))).toMatchObject({ code: 409 });
  expect(await failure(ledger.once(call("a", { call: "fs.delete" }), done()))).toMatchObject({ code: 409 });
  expect(effects).toBe(1);
});

it("reads over a line that was not finished", async () => {
  await life().once(call("a"), done(1));
  appendFileSync(file, '\n{"key":"b","dig');
  const next = life();
  expect(await next.once(call("a"), done())).toBe(1);
  expect(await next.once(call("b"), done(2))).toBe(2);
  expect(await life().once(call("b"), done())).toBe(2);
  expect(effects).toBe(2);
});

it("keeps that a thing was done when its result is too large, or has made room for others", async () => {
  const ledger = life({ resultBytes: 100, results: 2 });
  await ledger.once(call("large"), done("x".repeat(200)));
  for (const key of ["a", "b", "c"]) await ledger.once(call(key), done(key));
  for (const lived of [ledger, life({ results: 2 })]) {
    expect(await failure(lived.once(call("large"), done()))).toMatchObject({ code: 409, details: { outcome: "done" } });
    expect(await failure(lived.once(call("a"), done()))).toMatchObject({ code: 409, details: { outcome: "done" } });
    expect(await lived.once(call("c"), done())).toBe("c");
  }
  expect(effects).toBe(4);
});

it("takes no more keys rather than forget one before its day is over", async () => {
  const ledger = life({ keys: 2 });
  for (const key of ["a", "b"]) await ledger.once(call(key), done());
  expect(await failure(ledger.once(call("c"), done()))).toMatchObject({ code: 429, details: { takesKey: false } });
  now += 24 * 60 * 60 * 1000;
  await ledger.once(call("c"), done());
  expect(effects).toBe(3);
});

it("keeps the answer to a look for this life, and looks again in the next", async () => {
  const ledger = life({ results: 1 });
  const look = (key: string) => call(key, { call: "shell.exec", isLook: true });
  expect(await ledger.once(look("a"), done("out"))).toBe("out");
  expect(await ledger.once(look("a"), done("more"))).toBe("out");
  await ledger.once(look("b"), done());
  expect(await ledger.once(look("a"), done("later"))).toBe("later");
  expect(await life().once(look("a"), done("new"))).toBe("new");
  expect(readFileSync(file, "utf8")).toBe("");
});

it("makes its file small again and loses nothing", async () => {
  const ledger = life({ fileBytes: 2_000, results: 4 });
  for (let at = 0; at < 20; at++) await ledger.once(call(`k${at}`), done(`${at}`.padStart(200)));
  expect(statSync(file).size).toBeLessThan(5_000);
  void ledger.once(call("begun"), never);
  const next = life({ results: 4 });
  expect(await next.once(call("k19"), done())).toBe("19".padStart(200));
  for (let at = 0; at < 16; at++) expect(await failure(next.once(call(`k${at}`), done()))).toMatchObject({ details: { outcome: "done" } });
  expect(await failure(next.once(call("begun"), done()))).toMatchObject({ details: { outcome: "unknown" } });
  expect(effects).toBe(21);
});
