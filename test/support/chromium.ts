// A Chromium for the tests of the web desktop: the one named, the machine's own, one that may be installed, or the one that
// comes as a package. Run as a program it makes sure that there is one, which `npm test` does before the suite.

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** `env` is what it needs beside the test's own. */
export type Chromium = { path: string; env: Record<string, string> };

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const PACKAGED = join(ROOT, "node_modules/@sparticuz/chromium/bin");
/** Where the package is unpacked: in nobody else's way, and gone with the packages. */
const UNPACKED = join(ROOT, "node_modules/.gsv-chromium");
/** The shell without a window starts in a third of the time of a whole browser. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (machines() === null) installed();
  await findChromium();
}

export async function findChromium(): Promise<Chromium> {
  const own = machines();
  if (own !== null) return { path: own, env: {} };
  const packaged = await unpacked();
  if (packaged !== null) return packaged;
  throw new Error("There is no Chromium for the tests of the web desktop: install one, or name it with GSV_CHROMIUM");
}

function machines(): string | null {
  const { GSV_CHROMIUM, PATH = "" } = process.env;
  if (GSV_CHROMIUM) return GSV_CHROMIUM;
  const places = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...places, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].find(isProgram) ?? null;
}

/** Where we are root of a Debian: there nothing is asked, and everything can be taken away again. */
function installed(): void {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version") || !isProgram("/usr/bin/apt-get")) return;
  console.error("gsv: installing Chromium with apt-get, for the tests of the web desktop.");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "chromium-headless-shell"]]) {
    spawnSync("/usr/bin/apt-get", ["-q", ...args], { env, stdio: ["ignore", "ignore", "inherit"], timeout: 10 * 60_000 });
  }
}

/** Built for Linux on x64, with those libraries that a small system lacks. */
async function unpacked(): Promise<Chromium | null> {
  if (process.platform !== "linux" || process.arch !== "x64" || !existsSync(PACKAGED)) return null;
  const { default: chromium, inflate } = await import("@sparticuz/chromium");
  const { TMPDIR } = process.env;
  mkdirSync(UNPACKED, { recursive: true });
  // It unpacks to the folder for temporary files, under names that anybody could have taken.
  process.env.TMPDIR = UNPACKED;
  try {
    const path = await chromium.executablePath();
    if (!existsSync(join(UNPACKED, "al2023"))) await inflate(join(PACKAGED, "al2023.tar.br"));
    return { path, env: { LD_LIBRARY_PATH: join(UNPACKED, "al2023/lib") } };
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
