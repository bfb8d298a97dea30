// Stand-ins for systemctl, loginctl and launchctl: real programs that come first on the PATH. They record their arguments and do
// the essential: start the unit's program, stop it, and report whether it runs.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type ServiceManagers = {
  /** Must come first on the PATH. */
  folder: string;
  /** The command lines so far, one line each. */
  asked(): string[];
  /** From now on systemctl fails as on a system without a user manager. */
  vanish(): void;
  /** The pid of the program that the unit describes, if it was started. */
  pid(): number | null;
};

export function standIns(folder: string, node: string): ServiceManagers {
  mkdirSync(folder, { recursive: true });
  const program = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  };
  const record = join(folder, "asked");
  writeFileSync(record, "");
  const script = (body: string) => `#!${node}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require("node:fs");
const { basename, join } = require("node:path");
const args = process.argv.slice(2);
appendFileSync(${JSON.stringify(record)}, [basename(process.argv[1]), ...args].join(" ") + "\\n");
${body}`;
  program("systemctl", script(SYSTEMCTL));
  program("loginctl", script('console.error("Could not enable linger: Access denied"); process.exit(1);'));
  program("launchctl", script(LAUNCHCTL));
  const pidFile = join(folder, "pid");
  return {
    folder,
    asked: () => readFileSync(record, "utf8").split("\n").slice(0, -1),
    vanish: () => writeFileSync(join(folder, "vanished"), ""),
    pid: () => (existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) : null),
  };
}

/** Parses only what we write into unit files. */
const SYSTEMCTL = `
const here = __dirname;
if (existsSync(join(here, "vanished"))) {
  console.error("Failed to connect to bus: No medium found");
  process.exit(1);
}
const action = args[1];
const unit = args.find((word) => word.endsWith(".service"));
const pidFile = join(here, "pid");
// One that has ended may stay in the list of processes for as long as nobody has asked how: it is a zombie then.
const alive = () => {
  try {
    return !/^State:\\s+[ZX]/m.test(readFileSync("/proc/" + readFileSync(pidFile, "utf8") + "/status", "utf8"));
  } catch {
    return false;
  }
};
const words = (text) => [...text.matchAll(/"((?:[^"\\\\\\\\]|\\\\\\\\.)*)"/g)].map(([, word]) => JSON.parse('"' + word + '"').replaceAll("%%", "%"));
const stop = async () => {
  if (!alive()) return;
  process.kill(Number(readFileSync(pidFile, "utf8")), "SIGTERM");
  while (alive()) await new Promise((done) => setTimeout(done, 20));
};
const start = () => {
  const text = readFileSync(join(process.env.HOME, ".config/systemd/user", unit), "utf8");
  const [program, ...rest] = words(/^ExecStart=(.*)$/m.exec(text)[1]).map((word) => word.replaceAll("$$", "$"));
  const given = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) => words(line)).map((pair) => pair.split(/=(.*)/s).slice(0, 2));
  const env = { HOME: process.env.HOME, SHELL: "/bin/sh", USER: "someone", ...Object.fromEntries(given) };
  const child = require("node:child_process").spawn(program, rest, { env, cwd: process.env.HOME, detached: true, stdio: "ignore" });
  child.unref();
  writeFileSync(pidFile, String(child.pid));
};
(async () => {
  if (action === "show") console.log("ActiveState=" + (alive() ? "active\\nSubState=running\\nMainPID=" + readFileSync(pidFile, "utf8") : "inactive\\nSubState=dead") + "\\nUnitFileState=enabled\\nNRestarts=0");
  if (action === "stop" || action === "restart" || action === "disable") await stop();
  if (action === "start" || action === "restart") start();
})();
`;

const LAUNCHCTL = `
const loaded = join(__dirname, "loaded");
const isLoaded = existsSync(loaded) && readFileSync(loaded, "utf8") === "yes";
if (args[0] === "print" && !isLoaded) process.exit(113);
if (args[0] === "print") console.log("gsvd = {\\n\\tstate = running\\n\\tpid = 4711\\n}");
if (args[0] === "bootstrap") writeFileSync(loaded, "yes");
if (args[0] === "bootout") writeFileSync(loaded, "no");
`;
