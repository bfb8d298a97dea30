import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { standIns } from "../../../test/support/service-managers.ts";
import { launchd, plistText } from "./launchd.ts";
import type { Service, ServiceManager } from "./service.ts";
import { surroundings } from "./surroundings.ts";
import { systemd, unitText } from "./systemd.ts";

/** With everything in it that a manager could take for something else. */
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

test.skipIf(!hasProgram("systemd-analyze"))("systemd finds nothing to complain of in the unit", () => {
  const file = join(home, "gsvd.service");
  writeFileSync(file, unitText(SERVICE));
  mkdirSync(join(home, "run"));
  const verify = `systemd-analyze verify --user ${file} 2>&1`;
  const env = { ...process.env, HOME: home, XDG_RUNTIME_DIR: join(home, "run") };
  expect(execFileSync("/bin/sh", ["-c", verify], { env, encoding: "utf8" })).toBe("");
  // And it would have said so.
  writeFileSync(file, unitText(SERVICE).replace("OOMPolicy", "OOMPolcy"));
  expect(execFileSync("/bin/sh", ["-c", verify], { env, encoding: "utf8" })).toContain("OOMPolcy");
});

test("the unit: restarted for ever, its commands end with it, words stay what they are", () => {
  const text = unitText(SERVICE);
  for (const line of ["Restart=always", "RestartSec=3", "StartLimitIntervalSec=0", "KillMode=control-group", "WantedBy=default.target"])
    expect(text.split("\n")).toContain(line);
  expect(text).toContain(String.raw`"a \"b\" 100%% $$HOME \\n <&> é"`);
  expect(text).toContain(String.raw`Environment="ODD=a \"b\" 100%% $HOME \\n <&> é"`);
});

test.skipIf(process.platform !== "linux")("systemd is asked in the right order, and says what it could not do", async () => {
  const stand = standIns(join(home, "bin"), process.execPath);
  const env = { HOME: home, PATH: `${stand.folder}:${process.env.PATH}`, XDG_RUNTIME_DIR: home };
  const manager = (await systemd(env)) as ServiceManager;
  expect(await manager.state("gsvd")).toMatchObject({ isInstalled: false, isRunning: false });
  expect(await manager.uninstall("gsvd")).toBe(false);
  expect(await manager.install(SERVICE)).toEqual([expect.stringMatching(/sudo loginctl enable-linger/)]);
  expect(stand.asked().slice(-4)).toEqual([
    "systemctl --user daemon-reload",
    "systemctl --user enable gsvd.service",
    "systemctl --user restart gsvd.service",
    "loginctl enable-linger",
  ]);
  expect(await manager.state("gsvd")).toEqual({
    isInstalled: true,
    isRunning: true,
    detail: `active (running), process ${stand.pid()}, starts by itself`,
  });
  await manager.stop("gsvd");
  expect(await manager.state("gsvd")).toMatchObject({ isInstalled: true, isRunning: false });
  await manager.start("gsvd");
  expect(await manager.uninstall("gsvd")).toBe(true);
  expect(existsSync(manager.file("gsvd"))).toBe(false);
  expect((await manager.state("gsvd")).isRunning).toBe(false);
  stand.vanish();
  await expect(manager.start("gsvd")).rejects.toThrow(/^systemctl --user start gsvd.service failed: Failed to connect to bus/);
  expect(await systemd(env)).toEqual({ none: expect.stringMatching(/does not answer \(Failed to connect to bus/) });
  expect(await systemd({ HOME: home, PATH: join(home, "empty") })).toEqual({ none: expect.stringMatching(/has no systemd/) });
});

test("launchd: an agent that is loaded, kept, taken out and put back", async () => {
  const stand = standIns(join(home, "bin"), process.execPath);
  const manager = (await launchd({ HOME: home, PATH: `${stand.folder}:${process.env.PATH}` })) as ServiceManager;
  expect(await manager.state("gsvd")).toEqual({ isInstalled: false, isRunning: false, detail: "not loaded" });
  await manager.install(SERVICE);
  const [domain, agent] = [`gui/${process.getuid?.()}`, `gui/${process.getuid?.()}/gsvd`];
  expect(stand.asked().slice(-1)).toEqual([`launchctl bootstrap ${domain} ${home}/Library/LaunchAgents/gsvd.plist`]);
  expect(await manager.state("gsvd")).toEqual({ isInstalled: true, isRunning: true, detail: "running, process 4711" });
  await manager.restart("gsvd");
  expect(stand.asked().at(-1)).toBe(`launchctl kickstart -k ${agent}`);
  await manager.stop("gsvd");
  expect(stand.asked().at(-1)).toBe(`launchctl bootout ${agent}`);
  await manager.start("gsvd");
  expect(stand.asked().at(-1)).toMatch(/^launchctl bootstrap/);
  expect(await manager.uninstall("gsvd")).toBe(true);
  expect(existsSync(manager.file("gsvd"))).toBe(false);
});

test.skipIf(!hasProgram("python3"))("the property list is one, and says what was meant", () => {
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

test("a service gets the PATH of a login and no secret", async () => {
  writeFileSync(join(home, ".profile"), "echo welcome; PATH=/from/profile:$PATH\n");
  const env = { HOME: home, SHELL: "/bin/sh", PATH: "/usr/bin:/bin", GSV_DEVICE_TOKEN: "secret", GSV_TOKEN: "secret", GSV_HOME: "/data" };
  expect(await surroundings(env)).toEqual({ PATH: expect.stringMatching(/^\/from\/profile:/), GSV_HOME: "/data" });
  expect(await surroundings({ HOME: home, SHELL: "/no/such/shell", PATH: "/own" })).toEqual({ PATH: "/own" });
});

function hasProgram(name: string): boolean {
  try {
    execFileSync("/bin/sh", ["-c", `command -v ${name}`]);
    return true;
  } catch {
    return false;
  }
}
