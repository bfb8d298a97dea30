// Finds a Chromium for the tests of the web desktop: the one named by GSV_CHROMIUM, one on the PATH, or the one in an npm
// package. Run as a program, which `npm test` does before the suite, it may also install one, and makes sure that there is one.

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** `env` holds the variables it needs in addition to the test's own. */
export type Chromium = { path: string; env: Record<string, string> };

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const PACKAGED = join(ROOT, "node_modules/@sparticuz/chromium/bin");
/** The package is unpacked here: no other program uses this folder, and it is removed together with node_modules. */
const UNPACKED = join(ROOT, "node_modules/.gsv-chromium");
/** The headless shell starts in a third of the time of a whole browser. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (findOnMachine() === null) installWithApt();
  await findChromium();
}

export async function findChromium(): Promise<Chromium> {
  const own = findOnMachine();
  if (own !== null) return { path: own, env: {} };
  const packaged = await unpackPackage();
  if (packaged !== null) return packaged;
  throw new Error("There is no Chromium for the tests of the web desktop: install one, or name it with GSV_CHROMIUM");
}

function findOnMachine(): string | null {
  const { GSV_CHROMIUM, PATH = "" } = process.env;
  if (GSV_CHROMIUM) return GSV_CHROMIUM;
  const places = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...places, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].find(isProgram) ?? null;
}

/** Only as root on Debian, where apt-get needs no confirmation and can remove everything again. */
function installWithApt(): void {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version") || !isProgram("/usr/bin/apt-get")) return;
  console.error("gsv: installing Chromium with apt-get, for the tests of the web desktop.");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "chromium-headless-shell"]]) {
    spawnSync("/usr/bin/apt-get", ["-q", ...args], { env, stdio: ["ignore", "ignore", "inherit"], timeout: 10 * 60_000 });
  }
}

/** The package is built for Linux on x64 and contains the libraries that a small system lacks. */
async function unpackPackage(): Promise<Chromium | null> {
  if (process.platform !== "linux" || process.arch !== "x64" || !existsSync(PACKAGED)) return null;
  const { default: chromium, inflate } = await import("@sparticuz/chromium");
  const { TMPDIR } = process.env;
  mkdirSync(UNPACKED, { recursive: true });
  // The package unpacks to TMPDIR, under names that any other user could have taken.
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
