// The gsv command of a user: where it is written, that it runs its clone, and that other programs' files stay.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findOnPath, findProgram, installLauncher, readLauncher, removeLauncher, type System } from "./launcher.ts";

let home: string;
let program: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "gsv-launcher-")));
  const clone = join(home, "it's a clone");
  for (const folder of ["bin", "tools", "builds/1"]) mkdirSync(join(clone, folder), { recursive: true });
  program = join(clone, "bin", "gsv.mjs");
  writeFileSync(program, "console.log(JSON.stringify([process.env.GSV_COMMAND, ...process.argv.slice(2)]));");
  writeFileSync(join(clone, "tools", "setup.mjs"), "");
  writeFileSync(join(clone, "builds", "1", "gsv.js"), "");
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test("it runs the clone with its arguments, can be installed again, and is removed", () => {
  const system = onLinux(join(home, ".local/bin"));
  mkdirSync(join(home, ".local/bin"), { recursive: true });
  const file = join(home, ".local/bin/gsv");
  for (let time = 0; time < 2; time++) expect(installLauncher(program, system)).toEqual({ file, isOnPath: true });
  expect(findOnPath(system)).toEqual({ file, owner: "ours", clone: join(home, "it's a clone") });
  const ran = spawnSync(file, ["run", "--", "a b", ""], { encoding: "utf8" });
  expect(JSON.parse(ran.stdout)).toEqual([file, "run", "--", "a b", ""]);
  rmSync(program);
  expect(spawnSync(file, { encoding: "utf8" })).toMatchObject({ status: 127, stderr: expect.stringContaining("does not exist any more") });
  expect(removeLauncher(system)).toBe(file);
  expect(existsSync(file)).toBe(false);
  expect(removeLauncher(system)).toBeNull();
});

test("a file of another program is neither replaced nor removed, and one of an install script is not removed", () => {
  const folder = join(home, "bin");
  mkdirSync(folder);
  const file = join(folder, "gsv");
  const system = onLinux(folder);
  writeFileSync(file, "#!/bin/sh\necho ghostscript viewer\n");
  expect(() => installLauncher(program, system)).toThrow("is another program, so it was not replaced");
  expect(() => removeLauncher(system)).toThrow("is another program, so it was not removed");
  expect(readFileSync(file, "utf8")).toContain("ghostscript");
  rmSync(file);
  // A link may lead anywhere, so it is another program's too.
  symlinkSync(program, file);
  expect(readLauncher(file)?.owner).toBe("foreign");
  rmSync(file);
  writeFileSync(file, "#!/bin/sh\n# Written by the installer of GSV.\n");
  expect(() => removeLauncher(system)).toThrow("was installed from a gateway");
  expect(installLauncher(program, system).file).toBe(file);
  expect(readLauncher(file)?.owner).toBe("ours");
});

test("the install script of a gateway takes the file for its own", () => {
  const mark = /^MARK='(.*)'$/m.exec(readFileSync(join(import.meta.dirname, "../install/install.sh"), "utf8"))![1]!;
  const { file } = installLauncher(program, onLinux());
  expect(readFileSync(file, "utf8")).toContain(mark);
});

test("the directory is the usual one, else one of the user's own on PATH, and never one of npm", () => {
  expect(installLauncher(program, onLinux("/usr/bin"))).toEqual({ file: join(home, ".local/bin/gsv"), isOnPath: false });
  rmSync(join(home, ".local"), { recursive: true });
  for (const folder of ["clone/node_modules/.bin", "tools", "bin"]) mkdirSync(join(home, folder), { recursive: true });
  const path = [join(home, "clone/node_modules/.bin"), "/usr/bin", join(home, "tools")];
  expect(installLauncher(program, onLinux(...path))).toEqual({ file: join(home, "tools/gsv"), isOnPath: true });
  expect(installLauncher(program, onLinux(...path, join(home, "bin"))).file).toBe(join(home, "bin/gsv"));
  const windows: System = { platform: "win32", env: { LOCALAPPDATA: join(home, "local") }, home };
  const { file } = installLauncher(program, windows);
  expect(file).toBe(join(home, "local/gsv/gsv.cmd"));
  expect(readFileSync(file, "utf8")).toContain(`@node "${program}" %*`);
});

test("the clone is found from a build of it, and only a clone", () => {
  expect(findProgram(join(home, "it's a clone/builds/1/gsv.js"))).toBe(program);
  writeFileSync(join(home, "gsv.mjs"), "");
  expect(() => findProgram(join(home, "gsv.mjs"))).toThrow("installed as a command already");
});

function onLinux(...path: string[]): System {
  return { platform: "linux", env: { PATH: path.join(":") }, home };
}
