import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { addToHistory, HISTORY_LINES, belongsInHistory, readHistory } from "./history.ts";

const folder = mkdtempSync(join(tmpdir(), "gsv-history-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the history is private, newest first and bounded", () => {
  const file = join(folder, "deep", "shell_history");
  expect(readHistory(file)).toEqual([]);
  addToHistory(file, "one");
  addToHistory(file, "two");
  expect(readHistory(file)).toEqual(["two", "one"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, Array.from({ length: HISTORY_LINES * 2 + 1 }, (_, at) => `${at}\n`).join(""));
  chmodSync(file, 0o644);
  expect(readHistory(file)).toHaveLength(HISTORY_LINES);
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(HISTORY_LINES);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a line that starts with a space is not stored", () => {
  expect([" x", "\tx", "", "x"].map(belongsInHistory)).toEqual([false, false, false, true]);
});
