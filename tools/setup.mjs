// Makes a clone ready to run: installs when the lockfile changed, rebuilds the bundle when sources changed, then hands over to
// Node 24. Commands of one clone may do this at the same time: one works, the others wait, and a gateway that already runs from
// the clone is not disturbed (setup/). Plain JavaScript without dependencies, because it runs before there are any, on any Node
// from version 20.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Builds } from "./setup/builds.mjs";
import { withLock } from "./setup/lock.mjs";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const WORK = join(ROOT, ".setup");
const MODULES = join(ROOT, "node_modules");
const INSTALLED = join(MODULES, ".gsv-installed.json");
/** Source files that the build writes. */
const PRODUCTS = join("src", "generated");
const NODE_MIN = [24, 16];

const builds = new Builds(join(WORK, "builds"), join(ROOT, "dist"));

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await main(process.argv[2], process.argv.slice(3));

async function main(command, args) {
  switch (command) {
    case "start":
      await prepare({ dev: false });
      return handOver([join(ROOT, "dist/gsv.js"), "up", ...args]);
    case "build":
      return prepare({ dev: false });
    case "test":
      await prepare({ dev: true });
      return handOver([join(ROOT, "tools/test.ts"), ...args]);
    case "run":
      await prepare({ dev: true });
      return handOver(args.map((arg, at) => (at === 0 ? join(ROOT, arg) : arg)));
    default:
      console.error("usage: node tools/setup.mjs start | build | test | run FILE");
      process.exitCode = 2;
  }
}

/** Installs and builds what is missing or out of date; `dev` adds what only tests and tools need. */
export async function prepare({ dev }) {
  if (isInstalled(dev) && isBuilt(sourceSignature())) return;
  const work = async () => {
    if (!isInstalled(dev)) await install(dev);
    const signature = sourceSignature();
    if (!isBuilt(signature)) await build(signature);
  };
  await withLock(join(WORK, "lock"), work, (pid) => say(`Another command installs or builds (process ${pid}); waiting for it.`));
}

function isInstalled(dev) {
  const installed = readJson(INSTALLED);
  return installed?.lock === lockfileHash() && (installed.dev || !dev);
}

function isBuilt(signature) {
  return builds.isCurrent(signature) && existsSync(join(ROOT, PRODUCTS, "reference.ts"));
}

function lockfileHash() {
  return createHash("sha256")
    .update(readFileSync(join(ROOT, "package-lock.json")))
    .digest("hex");
}

/**
 * Installs into a separate folder and then swaps the folders, so that a running gateway misses its packages for two renames
 * instead of a minute.
 */
async function install(dev) {
  say(`Installing dependencies${dev ? " and test tools" : ""}; the first time takes about a minute.`);
  const started = Date.now();
  const lock = lockfileHash();
  removeLeftovers();
  const [fresh, old] = [`install-${process.pid}`, `replaced-${process.pid}`].map((name) => join(WORK, name));
  mkdirSync(fresh, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(ROOT, file), join(fresh, file));
  const npm = process.env.npm_execpath?.endsWith(".js") ? [process.execPath, process.env.npm_execpath] : ["npm"];
  const args = ["ci", "--prefix", fresh, "--no-audit", "--no-fund", "--loglevel=error", ...(dev ? [] : ["--omit=dev"])];
  const code = await run(npm[0], [...npm.slice(1), ...args], {
    cwd: fresh,
    env: { ...process.env, NODE_ENV: "" },
    shell: process.platform === "win32",
  });
  if (code !== 0) {
    console.error("gsv: installing failed; the lines above say why. Check that the package registry can be reached, then try again.");
    process.exit(code);
  }
  writeFileSync(join(fresh, "node_modules/.gsv-installed.json"), JSON.stringify({ lock, dev }));
  if (existsSync(MODULES)) renameSync(MODULES, old);
  renameSync(join(fresh, "node_modules"), MODULES);
  removeLeftovers();
  say(`Installed in ${seconds(started)}.`);
}

/**
 * Removes the folders of this installation and of any that was killed. A leftover npm may still write to them, so each has its
 * own name.
 */
function removeLeftovers() {
  for (const name of readdirSync(WORK)) {
    if (/^(install|replaced)-/.test(name)) rmSync(join(WORK, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The bundle that the gateway and the CLI run from: it starts in a third of the time of the sources. */
async function build(signature) {
  const started = Date.now();
  await builds.add(signature, async (folder) => {
    // In a separate process: esbuild's service runs as long as the process that called it.
    const code = await run(process.execPath, [join(ROOT, "tools/bundle.mjs"), folder, findNode24() ?? ""]);
    if (code !== 0) {
      console.error("gsv: the build failed; the lines above say why.");
      process.exit(code);
    }
  });
  say(`Built in ${seconds(started)}.`);
}

/** Runs a program in our terminal and returns its exit code. */
function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit", ...options });
    child.on("error", (error) => {
      console.error(`gsv: ${program}: ${error.message}`);
      resolve(1);
    });
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/** Node 24 from node_modules, or this one if it is new enough; null if there is none. */
function findNode24() {
  const packaged = join(ROOT, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  if (existsSync(packaged)) return packaged;
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]) ? process.execPath : null;
}

function node24() {
  const node = findNode24();
  if (node !== null) return node;
  console.error(
    `gsv: the gateway needs Node ${NODE_MIN.join(".")} or newer, and npm has no such package for ${process.platform} on ${process.arch}. Install Node 24 and try again.`,
  );
  process.exit(1);
}

/** Replaces this process by the other program if the system supports that; otherwise runs it and forwards signals and its exit. */
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

/** A hash of the names, sizes and times of everything the bundle is made of. */
function sourceSignature() {
  const lines = [];
  for (const folder of ["src", "tools", "web", "docs/guides"]) {
    for (const path of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).sort()) {
      const stat = statSync(join(ROOT, folder, path));
      if (stat.isFile() && !join(folder, path).startsWith(PRODUCTS)) lines.push(`${folder}/${path} ${stat.size} ${stat.mtimeMs}`);
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
