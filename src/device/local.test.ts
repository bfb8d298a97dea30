// Which directories are on this machine's own disks, according to Linux's list of mounts.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { LocalDirectories } from "./local.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "gsv-local-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ["plain", "remote", "remote/in", "a b"]) mkdirSync(join(folder, name));
symlinkSync(join(folder, "plain"), join(folder, "link"));

const mounts = [
  "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
  `2 1 0:1 / ${folder}/remote rw shared:1 - nfs4 server:/x rw`,
  `3 1 0:2 / ${folder}/a\\040b rw - fuse.sshfs me@there rw`,
].join("\n");

it("knows a directory on a local disk after one check, and none that is remote or behind a link", async () => {
  const local = new LocalDirectories(() => mounts);
  const learn = async (name: string) => {
    const before = local.has(join(folder, name));
    await local.check(join(folder, name));
    return [before, local.has(join(folder, name))];
  };
  expect(await learn("plain")).toEqual([false, true]);
  expect(await learn("remote")).toEqual([false, false]);
  expect(await learn("remote/in")).toEqual([false, false]);
  expect(await learn("a b")).toEqual([false, false]);
  expect(await learn("link")).toEqual([false, false]);
  expect(await learn("missing")).toEqual([false, false]);
});

it("knows nothing without a list of mounts", async () => {
  const local = new LocalDirectories(() => "");
  await local.check(folder);
  expect(local.has(folder)).toBe(false);
});
