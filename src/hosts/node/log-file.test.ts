import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LogFile } from "./log-file.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-log-file-"));
  file = join(folder, "some.log");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (bytesMax = 1000, filesMax = 3) => new LogFile(file, (lost) => `lost ${lost}\n`, { bytesMax, filesMax });
const lines = (name = file) => readFileSync(name, "utf8").split("\n").slice(0, -1);

test("rotates a full file and keeps a limited number of old ones", () => {
  const log = open(100, 3);
  for (let at = 0; at < 100; at++) log.write(`${String(at).padStart(19, "0")}\n`);
  expect(readdirSync(folder).toSorted()).toEqual(["some.log", "some.log.1", "some.log.2", "some.log.3"]);
  const kept = [`${file}.3`, `${file}.2`, `${file}.1`, file].flatMap((name) => lines(name));
  expect(kept.map(Number)).toEqual(Array.from({ length: 20 }, (_, at) => 80 + at));
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a half-written line of a killed program does not corrupt the next one", () => {
  appendFileSync(file, '{"whole":1}\n{"half');
  open().write('{"next":1}\n');
  expect(lines()).toEqual(['{"whole":1}', '{"half', '{"next":1}']);
});

test("two programs that share a file by mistake lose no line, even while it is rotated", () => {
  const [one, other] = [open(200, 100), open(200, 100)];
  for (let at = 0; at < 200; at++) (at % 2 === 0 ? one : other).write(`line ${at}\n`);
  const all = readdirSync(folder).flatMap((name) => lines(join(folder, name)));
  expect(new Set(all)).toEqual(new Set(Array.from({ length: 200 }, (_, at) => `line ${at}`)));
  expect(all).toHaveLength(200);
});

test("recreates a file that was removed", () => {
  const log = open();
  log.write("before\n");
  rmSync(file);
  log.write("after\n");
  expect(existsSync(file) && lines()).toEqual(["after"]);
});
