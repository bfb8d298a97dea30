// A machine's real files through the interface of fs.*: writes are atomic, keep the mode, and follow links.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rgPath } from "@vscode/ripgrep";
import { FileError, type FileMachine, NATIVE_LIMITS } from "../hardware/filesystem.ts";
import { readFile } from "../hardware/read.ts";
import { searchFiles } from "../hardware/search.ts";
import { MachineFiles } from "./files.ts";

let folder: string;
let files: MachineFiles;
const bytes = (text: string) => new TextEncoder().encode(text);
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error: unknown) => (error instanceof FileError ? error.code : String(error)),
  );

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "gsv-files-"));
  files = new MachineFiles(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("resolves relative paths below the workspace, absolute paths unchanged, and ~ as the home", () => {
  expect(files.resolve("a/../b")).toBe(join(folder, "b"));
  expect(files.resolve("/etc/hosts")).toBe("/etc/hosts");
  expect(files.resolve("~/x")).toBe(join(homedir(), "x"));
  expect(() => files.resolve("a\0b")).toThrow(FileError);
});

it("replaces a file atomically, keeps its mode, and leaves no temporary file", async () => {
  const path = join(folder, "script.sh");
  writeFileSync(path, "old");
  chmodSync(path, 0o750);
  await files.write(path, bytes("new"));
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o750);
  expect(readdirSync(folder)).toEqual(["script.sh"]);
});

it("does not write through a link that replaced its temporary file", async () => {
  const path = join(folder, "file");
  const other = join(folder, "other");
  writeFileSync(path, "old");
  chmodSync(path, 0o646);
  writeFileSync(other, "somebody's", { mode: 0o600 });
  const fresh = () => readdirSync(folder).find((name) => name.endsWith(".gsv"));
  // A large file takes long enough to be observed while it is written.
  const written = files.write(path, new Uint8Array(64 * 1024 * 1024));
  while (fresh() === undefined) await new Promise((resolve) => setImmediate(resolve));
  const beside = join(folder, fresh()!);
  expect(statSync(beside).mode & 0o077).toBe(0);
  rmSync(beside);
  symlinkSync(other, beside);
  expect(await codeOf(written)).toBe("EINVAL");
  expect([readFileSync(path, "utf8"), readFileSync(other, "utf8"), statSync(other).mode & 0o777]).toEqual(["old", "somebody's", 0o600]);
  expect(readdirSync(folder).toSorted()).toEqual(["file", "other"]);
});

it("writes and receives files with names of the maximum length, in any script", async () => {
  for (const name of ["x".repeat(255), "é".repeat(127), "漢".repeat(85), `a${"🙂".repeat(63)}`]) {
    const path = join(folder, name);
    await files.write(path, bytes("written"));
    const receipt = await files.receive(path, { size: 8, tag: undefined, mode: undefined });
    await receipt.write(bytes("received"));
    await receipt.finish("");
    expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual(["received", [name]]);
    rmSync(path);
  }
});

it("writes through a link and keeps the link", async () => {
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
  expect(await codeOf(files.write(path, bytes("three"), { ifVersion: version }))).toBe("ESTALE");
  expect(await codeOf(files.read(path, { start: 0, end: 1, ifVersion: version }))).toBe("ESTALE");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(readdirSync(folder)).toEqual(["x"]);
});

it("maps system errors to file errors", async () => {
  writeFileSync(join(folder, "file"), "");
  expect(await codeOf(files.stat(join(folder, "no")))).toBe("ENOENT");
  expect(await codeOf(files.read(folder))).toBe("EISDIR");
  expect(await codeOf(files.write(folder, bytes("")))).toBe("EISDIR");
  expect(await codeOf(files.list(join(folder, "file")))).toBe("ENOTDIR");
  expect(await codeOf(files.remove("/"))).toBe("EPERM");
});

it("fails to read an open file once it has changed", async () => {
  const path = join(folder, "large");
  writeFileSync(path, "first second");
  const { version } = await files.stat(path);
  const same = await files.open(path, version);
  expect([await same.read(0, 6), await same.read(6, 12)]).toEqual([bytes("first "), bytes("second")]);
  await same.close();
  const changed = await files.open(path, version);
  expect(await changed.read(0, 6)).toEqual(bytes("first "));
  writeFileSync(path, "1st   second");
  expect(await codeOf(changed.read(6, 12))).toBe("ESTALE");
  await changed.close();
  expect(await codeOf(files.open(path, version))).toBe("ESTALE");
});

it("follows no link to a place with secrets, and reads and writes those only by their own path", async () => {
  for (const directory of [".ssh", "proj"]) mkdirSync(join(folder, directory));
  const key = join(folder, ".ssh/work");
  const [link, docs, plain] = ["readme.md", "docs", "plain.md"].map((name) => join(folder, "proj", name)) as [string, string, string];
  writeFileSync(key, "PRIVATE\n");
  writeFileSync(join(folder, "proj/real.md"), "PRIVATE is a word\n");
  symlinkSync("../.ssh/work", link);
  symlinkSync("../.ssh", docs);
  symlinkSync("real.md", plain);
  const range = { start: 0, end: 9 };
  const { version } = await files.stat(link);
  for (const path of [link, join(docs, "work")]) {
    const says = `${path} leads through a link to ${key}, which may contain secrets. To use it, give that path`;
    await expect(files.read(path)).rejects.toThrow(says);
    await expect(files.read(path, range)).rejects.toThrow(says);
    await expect(files.open(path, version)).rejects.toThrow(says);
    await expect(files.write(path, bytes("other"))).rejects.toThrow(says);
    await expect(files.receive(path, { size: 1, tag: undefined, mode: undefined })).rejects.toThrow(says);
  }
  await expect(files.list(docs)).rejects.toThrow("leads through a link");
  await expect(files.write(join(docs, "authorized_keys"), bytes("x"))).rejects.toThrow("leads through a link");
  expect([readFileSync(key, "utf8"), readdirSync(join(folder, ".ssh"))]).toEqual(["PRIVATE\n", ["work"]]);
  // Reading by its own path, or through links between other files, works as before.
  expect(await files.read(key, range)).toEqual(bytes("PRIVATE\n"));
  expect(await files.read(plain, range)).toEqual(bytes("PRIVATE i"));
  for (const rg of [rgPath, null]) {
    const machine: FileMachine = {
      files: new MachineFiles(folder, rg),
      limits: NATIVE_LIMITS,
      now: () => 0,
      signal: new AbortController().signal,
    };
    const found = async (path: string) => {
      const result = await searchFiles(machine, { query: "PRIVATE", path });
      return result.ok ? result.matches.map((match) => match.path) : result.error;
    };
    expect(await found("proj")).toEqual([plain, join(folder, "proj/real.md")]);
    expect(await found("proj/docs")).toMatch("leads through a link");
    expect(await found(".ssh")).toEqual([key]);
    expect(await readFile(machine, { path: "proj/readme.md" })).toMatchObject({
      ok: false,
      error: expect.stringMatching("leads through a link"),
    });
    expect(await readFile(machine, { path: ".ssh/work" })).toMatchObject({ ok: true, content: expect.stringMatching("PRIVATE") });
  }
});
