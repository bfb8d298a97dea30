import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { configPath, readConfig, updateConfig } from "./config-file.ts";

const folders: string[] = [];

afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

test("its path follows the environment and the platform", () => {
  const HOME = "/home/alice";
  expect(configPath({ HOME }, "linux")).toBe("/home/alice/.config/gsv/config.toml");
  expect(configPath({ HOME, XDG_CONFIG_HOME: "/x" }, "linux")).toBe("/x/gsv/config.toml");
  expect(configPath({ HOME, XDG_CONFIG_HOME: "relative" }, "linux")).toBe("/home/alice/.config/gsv/config.toml");
  expect(configPath({ HOME }, "darwin")).toBe("/home/alice/Library/Application Support/gsv/config.toml");
  expect(configPath({ HOME, GSV_CONFIG: "/tmp/c.toml" }, "linux")).toBe("/tmp/c.toml");
});

test("it is written privately and atomically, and other sections are kept", () => {
  const folder = scratch();
  const file = join(folder, "deep", "config.toml");
  updateConfig(file, (table) => (table.node = { id: "laptop" }));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "deep")).mode & 0o777).toBe(0o700);
  chmodSync(file, 0o644);
  expect(readConfig(file).looseMode).toBe("644");
  updateConfig(file, (table) => (table.gateway = { username: "alice" }));
  expect(readConfig(file)).toMatchObject({ looseMode: null, table: { node: { id: "laptop" }, gateway: { username: "alice" } } });
  expect(readdirSync(join(folder, "deep"))).toEqual(["config.toml"]);
});

test("a symlink stays a symlink", () => {
  const folder = scratch();
  mkdirSync(join(folder, "dotfiles"));
  writeFileSync(join(folder, "dotfiles", "real.toml"), "");
  symlinkSync(join(folder, "dotfiles", "real.toml"), join(folder, "config.toml"));
  updateConfig(join(folder, "config.toml"), (table) => (table.session = { default_key: "x" }));
  expect(readFileSync(join(folder, "dotfiles", "real.toml"), "utf8")).toContain("default_key");
});

test("the error for an invalid file names it without quoting it", () => {
  const file = join(scratch(), "config.toml");
  writeFileSync(file, '[gateway]\ntoken = "gsv_user_SECRET\n');
  expect(() => readConfig(file)).toThrow(/is not valid TOML at line 2/);
  expect(() => readConfig(file)).toThrow(expect.not.objectContaining({ message: expect.stringContaining("SECRET") }));
});

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "gsv-cli-config-"));
  folders.push(folder);
  return folder;
}
