// Opening for writing yields a file of our own or fails, no matter what was planted in its place.

import { execFileSync } from "node:child_process";
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Ledger } from "../../device/ledger.ts";
import { addToHistory, readHistory } from "../../cli/shell/history.ts";
import { NodeBlobs } from "../node/blobs.ts";
import { LogFile } from "../node/log-file.ts";
import { openNew, openToAppend, readOwnFile, replaceFile } from "./own-files.ts";

const VALUE = "somebody's";
let folder: string;
let other: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-own-"));
  other = join(folder, "other");
  file = join(folder, "file");
  writeFileSync(other, VALUE, { mode: 0o644 });
});
afterEach(() => {
  // No test may ever have written through a link to it.
  expect([readFileSync(other, "utf8"), statSync(other).mode & 0o777]).toEqual([VALUE, 0o644]);
  rmSync(folder, { recursive: true, force: true });
});

const PLANTED: Record<string, () => void> = {
  "a link": () => symlinkSync(other, file),
  "a hard link": () => linkSync(other, file),
  "a directory": () => mkdirSync(file),
  "a pipe": () => execFileSync("mkfifo", [file]),
};

for (const [what, plant] of Object.entries(PLANTED)) {
  test(`refuses to append to, read from or create a file at ${what}`, async () => {
    plant();
    expect(() => openToAppend(file)).toThrow(/Move it away/);
    expect(() => readOwnFile(file)).toThrow(/Move it away/);
    await expect(openNew(file)).rejects.toThrow("EEXIST");
    // A log may be written to a pipe of this user's own.
    if (what !== "a pipe") expect(() => new LogFile(file, () => "")).toThrow(/Move it away/);
    expect(() => new Ledger(file)).toThrow(/Move it away/);
    addToHistory(file, "ls");
    expect(readHistory(file)).toEqual([]);
  });
}

test("creates, appends to, reads and replaces a file", () => {
  expect(readOwnFile(file)).toBeNull();
  for (const text of ["one ", "two"]) {
    const handle = openToAppend(file);
    writeSync(handle, text);
    closeSync(handle);
  }
  expect([readOwnFile(file), statSync(file).mode & 0o777]).toEqual(["one two", 0o600]);
  replaceFile(file, "new", { mode: 0o640, isSynced: true });
  expect([readOwnFile(file), statSync(file).mode & 0o777, readdirSync(folder).toSorted()]).toEqual(["new", 0o640, ["file", "other"]]);
});

test("replaces a link, also one planted at the temporary name", () => {
  symlinkSync(other, file);
  symlinkSync(other, `${file}.${process.pid}.new`);
  replaceFile(file, "new");
  expect([lstatSync(file).isFile(), readFileSync(file, "utf8"), readdirSync(folder).toSorted()]).toEqual([true, "new", ["file", "other"]]);
});

test("a growing blob is always the gateway's own file, and continues where it stopped", async () => {
  const blobs = new NodeBlobs(join(folder, "blobs"), () => {});
  const part = join(folder, "blobs", "some.part");
  symlinkSync(other, part);
  const first = await blobs.openGrowing("some");
  await first.write(new TextEncoder().encode("one "));
  await first.close();
  expect([lstatSync(part).isFile(), readFileSync(part, "utf8")]).toEqual([true, "one "]);
  const second = await blobs.openGrowing("some");
  await second.write(new TextEncoder().encode("two"));
  await second.finish("whole");
  expect(new TextDecoder().decode((await blobs.get("whole"))!)).toBe("one two");
});
