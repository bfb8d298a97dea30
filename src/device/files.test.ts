// A machine's real files through the interface of fs.*: what is written is whole, keeps its mode, and goes through links.

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FileError } from "../hardware/filesystem.ts";
import { MachineFiles } from "./files.ts";

let folder: string;
let files: MachineFiles;
const bytes = (text: string) => new TextEncoder().encode(text);
const code = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error: unknown) => (error instanceof FileError ? error.code : String(error)),
  );

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-files-"));
  files = new MachineFiles(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("resolves relative paths below the workspace, absolute ones as they are, and ~ as the home", () => {
  expect(files.resolve("a/../b")).toBe(join(folder, "b"));
  expect(files.resolve("/etc/hosts")).toBe("/etc/hosts");
  expect(files.resolve("~/x")).toBe(join(homedir(), "x"));
  expect(() => files.resolve("a\0b")).toThrow(FileError);
});

it("replaces a file whole, keeps its mode, and leaves nothing beside it", async () => {
  const path = join(folder, "script.sh");
  writeFileSync(path, "old");
  chmodSync(path, 0o750);
  await files.write(path, bytes("new"));
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o750);
  expect(readdirSync(folder)).toEqual(["script.sh"]);
});

it("writes nothing through what took the place of the file it was writing beside", async () => {
  const path = join(folder, "file");
  const other = join(folder, "other");
  writeFileSync(path, "old");
  chmodSync(path, 0o646);
  writeFileSync(other, "somebody's", { mode: 0o600 });
  const fresh = () => readdirSync(folder).find((name) => name.endsWith(".gsv"));
  // A large file takes long enough to be seen while it is written.
  const written = files.write(path, new Uint8Array(64 * 1024 * 1024));
  while (fresh() === undefined) await new Promise((resolve) => setImmediate(resolve));
  const beside = join(folder, fresh()!);
  expect(statSync(beside).mode & 0o077).toBe(0);
  rmSync(beside);
  symlinkSync(other, beside);
  expect(await code(written)).toBe("EINVAL");
  expect([readFileSync(path, "utf8"), readFileSync(other, "utf8"), statSync(other).mode & 0o777]).toEqual(["old", "somebody's", 0o600]);
  expect(readdirSync(folder).toSorted()).toEqual(["file", "other"]);
});

it("writes through a link and leaves the link", async () => {
  writeFileSync(join(folder, "real"), "old");
  symlinkSync("real", join(folder, "link"));
  await files.write(join(folder, "link"), bytes("new"));
  expect(readFileSync(join(folder, "real"), "utf8")).toBe("new");
  expect((await files.list(folder)).map(({ name, kind }) => `${name} ${kind}`).toSorted()).toEqual(["link file", "real file"]);
});

it("writes only over the version that was read", async () => {
  const path = join(folder, "x");
  await files.write(path, bytes("one"));
  const { version } = await files.stat(path);
  await files.write(path, bytes("two"), { ifVersion: version });
  expect(await code(files.write(path, bytes("three"), { ifVersion: version }))).toBe("ESTALE");
  expect(await code(files.read(path, { start: 0, end: 1, ifVersion: version }))).toBe("ESTALE");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(readdirSync(folder)).toEqual(["x"]);
});

it("tells what went wrong in the words of files", async () => {
  writeFileSync(join(folder, "file"), "");
  expect(await code(files.stat(join(folder, "no")))).toBe("ENOENT");
  expect(await code(files.read(folder))).toBe("EISDIR");
  expect(await code(files.write(folder, bytes("")))).toBe("EISDIR");
  expect(await code(files.list(join(folder, "file")))).toBe("ENOTDIR");
  expect(await code(files.remove("/"))).toBe("EPERM");
});

it("reads an open file to its end only while it stays what it was", async () => {
  const path = join(folder, "large");
  writeFileSync(path, "first second");
  const { version } = await files.stat(path);
  const same = await files.open(path, version);
  expect([await same.read(0, 6), await same.read(6, 12)]).toEqual([bytes("first "), bytes("second")]);
  await same.close();
  const changed = await files.open(path, version);
  expect(await changed.read(0, 6)).toEqual(bytes("first "));
  writeFileSync(path, "1st   second");
  expect(await code(changed.read(6, 12))).toBe("ESTALE");
  await changed.close();
  expect(await code(files.open(path, version))).toBe("ESTALE");
});
