import { beforeEach, expect, test } from "vitest";
import { LimitedLog, SOURCES_MAX } from "./limited-log.ts";
import type { LogFields } from "./log.ts";

let lines: [string, LogFields | undefined][];
let now: number;
let log: LimitedLog;

beforeEach(() => {
  lines = [];
  now = 1_000_000;
  const write = (message: string, fields?: LogFields) => void lines.push([message, fields]);
  log = new LimitedLog({ debug: write, info: write, warn: write, error: write }, () => now);
});

test("the first line of a minute is written at once, and the next one says how many were left out", () => {
  const refuse = () => log.warn("refused", { call: "sys.connect", status: 401, address: "192.0.2.7" });
  for (let at = 0; at < 5_000; at++) refuse();
  expect(lines).toEqual([["refused", { call: "sys.connect", status: 401, address: "192.0.2.7" }]]);
  now += 59_999;
  refuse();
  expect(lines).toHaveLength(1);
  now += 1;
  refuse();
  refuse();
  expect(lines.slice(1)).toEqual([["refused", { call: "sys.connect", status: 401, address: "192.0.2.7", leftOut: 5_000 }]]);
  now += 60_000;
  refuse();
  expect(lines[2]![1]).toMatchObject({ leftOut: 1 });
});

test("kinds and sources are limited separately, and all addresses of one customer are one source", () => {
  for (const address of ["192.0.2.7", "192.0.2.8", "2001:db8::1", "2001:db8::2", "::ffff:192.0.2.7"])
    for (const status of [401, 429]) log.warn("refused", { call: "git", status, address });
  expect(lines.map(([, fields]) => `${fields!.status} ${fields!.address}`)).toEqual([
    "401 192.0.2.7",
    "429 192.0.2.7",
    "401 192.0.2.8",
    "429 192.0.2.8",
    "401 2001:db8::1",
    "429 2001:db8::1",
  ]);
});

test("beyond SOURCES_MAX sources, all others of a kind share one line a minute, and lines left out are still counted", () => {
  const refuse = (at: number) => log.warn("refused", { address: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` });
  for (let at = 0; at < SOURCES_MAX + 500; at++) refuse(at);
  refuse(0);
  expect(lines).toHaveLength(SOURCES_MAX + 1);
  log.error("something else", { address: "192.0.2.7" });
  expect(lines).toHaveLength(SOURCES_MAX + 2);
  now += 60_000;
  // Replaces the first source, whose one omitted line is then counted with those of all others.
  refuse(1_000_000);
  expect(lines.at(-1)![1]).toEqual({ address: "10.15.66.64" });
  for (let at = 1_000_001; at < 1_000_001 + SOURCES_MAX; at++) refuse(at);
  expect(lines.filter(([, fields]) => fields!.leftOut !== undefined)).toEqual([["refused", { address: expect.any(String), leftOut: 500 }]]);
});

test("a clock that is set back silences nothing", () => {
  log.warn("refused", { address: "192.0.2.7" });
  now -= 3_600_000;
  log.warn("refused", { address: "192.0.2.7" });
  expect(lines).toHaveLength(2);
});

test("fields are truncated and control characters are removed", () => {
  log.error("a repository does not answer", { repo: `a\u001b[2J\r\n\u202eb${"x".repeat(10_000)}`, error: "y".repeat(10_000), count: 3 });
  const { repo, error, count } = lines[0]![1] as { repo: string; error: string; count: number };
  expect(repo).toMatch(/^a \[2J bx+…$/);
  expect(repo.length).toBeLessThan(310);
  expect(error.length).toBeLessThan(4_010);
  expect(count).toBe(3);
});

test("every cause of an incident gets a first line, and repeats return the id of that line", () => {
  const causes = [() => new Error("one"), () => new Error("two"), () => new TypeError("three"), () => "a text"];
  const ids = Array.from({ length: 10 }, (_, round) =>
    causes.map((make, at) => log.reportIncident(`${round}-${at}`, { call: "fs.read", uid: 1000 }, make())),
  );
  expect(lines.map(([, fields]) => fields!.incident)).toEqual(["0-0", "0-1", "0-2", "0-3"]);
  expect(new Set(ids.map(String))).toEqual(new Set(["0-0,0-1,0-2,0-3"]));
  expect(log.reportIncident("bob", { call: "fs.read", uid: 1001 }, causes[0]!())).toBe("bob");
  now += 60_000;
  expect(log.reportIncident("later", { call: "fs.read", uid: 1000 }, causes[0]!())).toBe("later");
  expect(lines.at(-1)![1]).toMatchObject({ incident: "later", call: "fs.read", uid: 1000, leftOut: 9 });
});

test("text from a caller in the error message does not make a new cause", () => {
  const boom = (text: string) => new Error(text);
  for (let at = 0; at < 100; at++) log.reportIncident("id", { call: "fs.read", uid: 1000 }, boom(`no ${at}\n    at fake (${at}.ts:1:1)`));
  expect(lines).toHaveLength(1);
});
