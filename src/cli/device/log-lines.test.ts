import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { follow, lastLines, pretty } from "./log-lines.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-log-lines-"));
  file = join(folder, "node.log");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `line ${from + at}`);
const text = (lines: string[]) => lines.map((line) => `${line}\n`).join("");

test("the last lines, reaching back into files that were put aside", () => {
  expect(lastLines(file, 10)).toEqual({ lines: [], end: 0 });
  writeFileSync(`${file}.2`, text(numbered(0, 10)));
  writeFileSync(`${file}.1`, text(numbered(10, 20_000)));
  writeFileSync(file, text(numbered(20_000, 20_003)));
  expect(lastLines(file, 2).lines).toEqual(numbered(20_001, 20_003));
  expect(lastLines(file, 3).lines).toEqual(numbered(20_000, 20_003));
  expect(lastLines(file, 15_000).lines).toEqual(numbered(5_003, 20_003));
  expect(lastLines(file, 999_999).lines).toEqual(numbered(0, 20_003));
  expect(lastLines(file, 0).lines).toEqual([]);
});

test("new lines, each whole, through a rotation and before there is a file at all", async () => {
  const seen = follow(file, 0);
  const next = async () => (await seen.next()).value as string;
  const first = next();
  appendFileSync(file, "one\n");
  expect(await first).toBe("one");
  appendFileSync(file, "two\nthr");
  expect(await next()).toBe("two");
  const third = next();
  appendFileSync(file, "ee\nfour\n");
  renameSync(file, `${file}.1`);
  writeFileSync(file, "five\n");
  expect([await third, await next(), await next()]).toEqual(["three", "four", "five"]);
  await seen.return(undefined);
});

test("lines as people read them; what is no JSON stays as it is", () => {
  const line = JSON.stringify({ time: "2026-11-15T10:00:07.000Z", level: "info", msg: "call", call: "fs.read", ms: 3, outcome: "ok" });
  expect(pretty(line)).toMatch(/^2026-11-15 \d\d:\d\d:07 {2}info {3}call {2}call=fs\.read {2}ms=3 {2}outcome=ok$/);
  expect(pretty('{"level":40,"time":"2026-11-15T10:00:07.000Z","msg":"x"}')).toMatch(/ {2}warn {3}x$/);
  for (const odd of ['{"half', "null", "7"]) expect(pretty(odd)).toBe(odd);
});
