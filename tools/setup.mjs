// Brings a fresh clone to where it can run: installs when the lockfile changed, rebuilds the bundle when sources
// changed, then hands over to Node 24. Plain JavaScript without dependencies, because it runs before there are any, on
// whatever Node from 20 the machine has.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const INSTALLED = join(ROOT, "node_modules/.gsv-installed.json");
const BUILT = join(ROOT, "dist/.built");
const NODE_WANTED = [24, 16];

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await main(process.argv[2], process.argv.slice(3));

async function main(command, args) {
  switch (command) {
    case "start":
      install({ dev: false });
      await build();
      return handOver([join(ROOT, "dist/gsv.js"), "up", ...args]);
    case "build":
      install({ dev: false });
      return build();
    case "test":
      install({ dev: true });
      await build();
      return handOver([join(ROOT, "tools/test.ts"), ...args]);
    case "run":
      install({ dev: true });
      await build();
      return handOver(args.map((arg, at) => (at === 0 ? join(ROOT, arg) : arg)));
    default:
      console.error("usage: node tools/setup.mjs start | build | test | run FILE");
      process.exitCode = 2;
  }
}

/** `dev` adds what only tests and tools need. */
export function install({ dev }) {
  const lock = createHash("sha256")
    .update(readFileSync(join(ROOT, "package-lock.json")))
    .digest("hex");
  const done = readJson(INSTALLED);
  if (done?.lock === lock && (done.dev || !dev)) return;
  say(`Installing dependencies${dev ? " and test tools" : ""}; the first time takes about a minute.`);
  const npm = process.env.npm_execpath?.endsWith(".js") ? [process.execPath, process.env.npm_execpath] : ["npm"];
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error", ...(dev ? [] : ["--omit=dev"])];
  const started = Date.now();
  const result = spawnSync(npm[0], [...npm.slice(1), ...args], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, NODE_ENV: "" },
    shell: process.platform === "win32",
  });
  if (result.status !== 0) {
    console.error("gsv: installing failed; the lines above say why. Check that the package registry can be reached, then try again.");
    process.exit(result.status ?? 1);
  }
  writeFileSync(INSTALLED, JSON.stringify({ lock, dev }));
  say(`Installed in ${seconds(started)}.`);
}

/** The bundle the gateway and the CLI run from: a third of the start-up time of running the sources. */
export async function build() {
  const signature = sourceSignature();
  if (existsSync(BUILT) && readFileSync(BUILT, "utf8") === signature) return;
  const started = Date.now();
  const { bundle } = await import("./bundle.mjs");
  await bundle({ outdir: join(ROOT, "dist"), node: findNode24() });
  mkdirSync(dirname(BUILT), { recursive: true });
  writeFileSync(BUILT, signature);
  say(`Built in ${seconds(started)}.`);
}

/** Node 24 from node_modules, or this one where it is new enough; null where there is none. */
function findNode24() {
  const packaged = join(ROOT, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  if (existsSync(packaged)) return packaged;
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > NODE_WANTED[0] || (major === NODE_WANTED[0] && minor >= NODE_WANTED[1]) ? process.execPath : null;
}

function node24() {
  const node = findNode24();
  if (node !== null) return node;
  console.error(
    `gsv: the gateway needs Node ${NODE_WANTED.join(".")} or newer, and npm has no such package for ${process.platform} on ${process.arch}. Install Node 24 and try again.`,
  );
  process.exit(1);
}

/** Becomes the other program where the system can do that, else runs it and passes on signals and its end. */
export function handOver(args) {
  const node = node24();
  if (process.platform !== "win32" && typeof process.execve === "function") return process.execve(node, [node, ...args], process.env);
  const child = spawn(node, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    if (signal !== null) process.removeAllListeners(signal);
    if (signal !== null) process.kill(process.pid, signal);
    else process.exitCode = code ?? 1;
  });
}

/** Names, sizes and times of everything a bundle is made of. */
function sourceSignature() {
  const lines = [];
  for (const folder of ["src", "tools", "web"]) {
    for (const path of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).sort()) {
      const stat = statSync(join(ROOT, folder, path));
      if (stat.isFile()) lines.push(`${folder}/${path} ${stat.size} ${stat.mtimeMs}`);
    }
  }
  lines.push(String(statSync(join(ROOT, "package-lock.json")).mtimeMs));
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}

function say(message) {
  console.error(`gsv: ${message}`);
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
