import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readNewLines, lastLines, formatLogLine } from "./log-lines.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-log-lines-"));
  file = join(folder, "node.log");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lineRange = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `line ${from + at}`);
const text = (lines: string[]) => lines.map((line) => `${line}\n`).join("");

test("the last lines include those of rotated files", () => {
  expect(lastLines(file, 10)).toEqual({ lines: [], end: 0 });
  writeFileSync(`${file}.2`, text(lineRange(0, 10)));
  writeFileSync(`${file}.1`, text(lineRange(10, 20_000)));
  writeFileSync(file, text(lineRange(20_000, 20_003)));
  expect(lastLines(file, 2).lines).toEqual(lineRange(20_001, 20_003));
  expect(lastLines(file, 3).lines).toEqual(lineRange(20_000, 20_003));
  expect(lastLines(file, 15_000).lines).toEqual(lineRange(5_003, 20_003));
  expect(lastLines(file, 999_999).lines).toEqual(lineRange(0, 20_003));
  expect(lastLines(file, 0).lines).toEqual([]);
});

test("follow yields whole lines, across a rotation and from before the file exists", async () => {
  const newLines = readNewLines(file, 0);
  const next = async () => (await newLines.next()).value as string;
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
  await newLines.return(undefined);
});

test("a line is formatted for people, and text that is not JSON stays unchanged", () => {
  const line = JSON.stringify({ time: "2026-11-15T10:00:07.000Z", level: "info", msg: "call", call: "fs.read", ms: 3, outcome: "ok" });
  expect(formatLogLine(line)).toMatch(/^2026-11-15 \d\d:\d\d:07 {2}info {3}call {2}call=fs\.read {2}ms=3 {2}outcome=ok$/);
  expect(formatLogLine('{"level":40,"time":"2026-11-15T10:00:07.000Z","msg":"x"}')).toMatch(/ {2}warn {3}x$/);
  for (const odd of ['{"half', "null", "7"]) expect(formatLogLine(odd)).toBe(odd);
});
