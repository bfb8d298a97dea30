import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { standIns } from "../../../test/support/service-managers.ts";
import { findLaunchd, plistText } from "./launchd.ts";
import type { Service, ServiceManager } from "./service.ts";
import { makeServiceEnvironment } from "./surroundings.ts";
import { findSystemd, unitText } from "./systemd.ts";

/** Contains every character that a service manager could misread. */
const ODD = `a "b" 100% $HOME \\n <&> é`;
const SERVICE: Service = {
  name: "gsvd",
  description: "Some service",
  command: [process.execPath, "-e", "setInterval(() => {}, 1000)", ODD],
  environment: { PATH: "/usr/bin:/bin", ODD },
  stopSeconds: 10,
};

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "gsv-service-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test.skipIf(!hasProgram("systemd-analyze"))("systemd-analyze reports no problem in the unit", () => {
  const file = join(home, "gsvd.service");
  writeFileSync(file, unitText(SERVICE));
  mkdirSync(join(home, "run"));
  const verify = `systemd-analyze verify --user ${file} 2>&1`;
  const env = { ...process.env, HOME: home, XDG_RUNTIME_DIR: join(home, "run") };
  expect(execFileSync("/bin/sh", ["-c", verify], { env, encoding: "utf8" })).toBe("");
  // And it does report a mistake.
  writeFileSync(file, unitText(SERVICE).replace("OOMPolicy", "OOMPolcy"));
  expect(execFileSync("/bin/sh", ["-c", verify], { env, encoding: "utf8" })).toContain("OOMPolcy");
});

test("the unit restarts forever, ends its commands with itself and quotes its arguments", () => {
  const text = unitText(SERVICE);
  for (const line of ["Restart=always", "RestartSec=3", "StartLimitIntervalSec=0", "KillMode=control-group", "WantedBy=default.target"])
    expect(text.split("\n")).toContain(line);
  expect(text).toContain(String.raw`"a \"b\" 100%% $$HOME \\n <&> é"`);
  expect(text).toContain(String.raw`Environment="ODD=a \"b\" 100%% $HOME \\n <&> é"`);
});

test.skipIf(process.platform !== "linux")("systemctl is called in the right order, and its failures are reported", async () => {
  const managers = standIns(join(home, "bin"), process.execPath);
  const env = { HOME: home, PATH: `${managers.folder}:${process.env.PATH}`, XDG_RUNTIME_DIR: home };
  const manager = (await findSystemd(env)) as ServiceManager;
  expect(await manager.state("gsvd")).toMatchObject({ isInstalled: false, isRunning: false });
  expect(await manager.uninstall("gsvd")).toBe(false);
  expect(await manager.install(SERVICE)).toEqual([expect.stringMatching(/sudo loginctl enable-linger/)]);
  expect(managers.asked().slice(-4)).toEqual([
    "systemctl --user daemon-reload",
    "systemctl --user enable gsvd.service",
    "systemctl --user restart gsvd.service",
    "loginctl enable-linger",
  ]);
  expect(await manager.state("gsvd")).toEqual({
    isInstalled: true,
    isRunning: true,
    detail: `active (running), process ${managers.pid()}, starts automatically`,
  });
  await manager.stop("gsvd");
  expect(await manager.state("gsvd")).toMatchObject({ isInstalled: true, isRunning: false });
  await manager.start("gsvd");
  expect(await manager.uninstall("gsvd")).toBe(true);
  expect(existsSync(manager.file("gsvd"))).toBe(false);
  expect((await manager.state("gsvd")).isRunning).toBe(false);
  managers.vanish();
  await expect(manager.start("gsvd")).rejects.toThrow(/^systemctl --user start gsvd.service failed: Failed to connect to bus/);
  expect(await findSystemd(env)).toEqual({ none: expect.stringMatching(/does not respond \(Failed to connect to bus/) });
  expect(await findSystemd({ HOME: home, PATH: join(home, "empty") })).toEqual({ none: expect.stringMatching(/has no systemd/) });
});

test("launchd loads, restarts, unloads and reloads the agent", async () => {
  const managers = standIns(join(home, "bin"), process.execPath);
  const manager = (await findLaunchd({ HOME: home, PATH: `${managers.folder}:${process.env.PATH}` })) as ServiceManager;
  expect(await manager.state("gsvd")).toEqual({ isInstalled: false, isRunning: false, detail: "not loaded" });
  await manager.install(SERVICE);
  const [domain, agent] = [`gui/${process.getuid?.()}`, `gui/${process.getuid?.()}/gsvd`];
  expect(managers.asked().slice(-1)).toEqual([`launchctl bootstrap ${domain} ${home}/Library/LaunchAgents/gsvd.plist`]);
  expect(await manager.state("gsvd")).toEqual({ isInstalled: true, isRunning: true, detail: "running, process 4711" });
  await manager.restart("gsvd");
  expect(managers.asked().at(-1)).toBe(`launchctl kickstart -k ${agent}`);
  await manager.stop("gsvd");
  expect(managers.asked().at(-1)).toBe(`launchctl bootout ${agent}`);
  await manager.start("gsvd");
  expect(managers.asked().at(-1)).toMatch(/^launchctl bootstrap/);
  expect(await manager.uninstall("gsvd")).toBe(true);
  expect(existsSync(manager.file("gsvd"))).toBe(false);
});

test.skipIf(!hasProgram("python3"))("the property list is valid and has the intended values", () => {
  const file = join(home, "gsvd.plist");
  writeFileSync(file, plistText(SERVICE, join(home, "gsvd.err")));
  const read = "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";
  expect(JSON.parse(execFileSync("python3", ["-c", read, file], { encoding: "utf8" }))).toEqual({
    Label: "gsvd",
    ProgramArguments: SERVICE.command,
    EnvironmentVariables: SERVICE.environment,
    RunAtLoad: true,
    KeepAlive: true,
    ThrottleInterval: 3,
    ProcessType: "Interactive",
    ExitTimeOut: 10,
    StandardErrorPath: join(home, "gsvd.err"),
  });
});

test("a service gets the PATH of a login shell and no secret", async () => {
  writeFileSync(join(home, ".profile"), "echo welcome; PATH=/from/profile:$PATH\n");
  const env = { HOME: home, SHELL: "/bin/sh", PATH: "/usr/bin:/bin", GSV_DEVICE_TOKEN: "secret", GSV_TOKEN: "secret", GSV_HOME: "/data" };
  expect(await makeServiceEnvironment(env)).toEqual({ PATH: expect.stringMatching(/^\/from\/profile:/), GSV_HOME: "/data" });
  expect(await makeServiceEnvironment({ HOME: home, SHELL: "/no/such/shell", PATH: "/own" })).toEqual({ PATH: "/own" });
});

function hasProgram(name: string): boolean {
  try {
    execFileSync("/bin/sh", ["-c", `command -v ${name}`]);
    return true;
  } catch {
    return false;
  }
}
