// The gsv command of a user: a small file in a directory on PATH that runs the clone it was installed from. A file that is not ours
// is never replaced or removed. The install scripts of a gateway (src/cli/install) write the same kind of file.

import { accessSync, constants, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, relative, sep } from "node:path";
import { replaceFile } from "../../hosts/shared/own-files.ts";
import { shellQuote } from "../../lib/quote.ts";
import { Problem } from "../terminal/problem.ts";

/** src/cli/install/install.sh has the same line. */
const MARK = "Written by the installer of GSV.";
const CLONE = "Runs the clone in ";
const PARENTS_MAX = 4;

export type System = { platform: NodeJS.Platform; env: NodeJS.ProcessEnv; home: string };

export type Launcher = {
  file: string;
  /** ours: installed from a clone; installer: by a gateway's install script; foreign: another program's. */
  owner: "ours" | "installer" | "foreign";
  /** The clone that it runs, if it is ours. */
  clone: string | null;
};

export function thisSystem(): System {
  return { platform: process.platform, env: process.env, home: process.env.HOME || homedir() };
}

/** The first gsv on PATH; null if there is none. Commands of npm, which exist only while npm runs, do not count. */
export function findOnPath(system: System): Launcher | null {
  for (const folder of pathFolders(system)) {
    const found = readLauncher(join(folder, fileName(system)));
    if (found !== null) return found;
  }
  return null;
}

/** Null if there is no such file. */
export function readLauncher(file: string): Launcher | null {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return null;
  const text = lstatSync(file).isFile() ? readFileSync(file, "utf8") : "";
  if (!text.includes(MARK)) return { file, owner: "foreign", clone: null };
  const clone = new RegExp(`${CLONE}(.+)$`, "m").exec(text)?.[1]?.trim() ?? null;
  return { file, owner: clone === null ? "installer" : "ours", clone };
}

/** Writes the command, or the same one again. */
export function installLauncher(program: string, system: System): { file: string; isOnPath: boolean } {
  const folder = chooseFolder(system);
  const file = join(folder, fileName(system));
  if (readLauncher(file)?.owner === "foreign")
    throw new Problem(`${file} exists and is another program, so it was not replaced. Choose another directory: INSTALL_DIR=DIR`);
  mkdirSync(folder, { recursive: true });
  replaceFile(file, launcherText(program, file, system), { mode: 0o755 });
  return { file, isOnPath: pathFolders(system).includes(folder) };
}

/** Returns the removed file; null if there was none. */
export function removeLauncher(system: System): string | null {
  const found = findOnPath(system) ?? readLauncher(join(chooseFolder(system), fileName(system)));
  if (found === null) return null;
  if (found.owner === "foreign") throw new Problem(`${found.file} is another program, so it was not removed`);
  if (found.owner === "installer")
    throw new Problem(
      `${found.file} was installed from a gateway, and a service of this machine may use it. To remove it: rm ${found.file}`,
    );
  rmSync(found.file);
  return found.file;
}

/** bin/gsv.mjs of the clone that this program belongs to. */
export function findProgram(started = process.argv[1] ?? ""): string {
  let folder = dirname(realpathSync(started));
  for (let up = 0; up < PARENTS_MAX; up++, folder = dirname(folder)) {
    const program = join(folder, "bin", "gsv.mjs");
    if (existsSync(program) && existsSync(join(folder, "tools", "setup.mjs"))) return program;
  }
  throw new Problem("This gsv does not run from a clone: it is installed as a command already");
}

/** ~/.local/bin if it is on PATH, else ~/bin or the first directory on PATH that is the user's own, else ~/.local/bin. */
function chooseFolder(system: System): string {
  const { platform, env, home } = system;
  const wanted = env.INSTALL_DIR || env.GSV_INSTALL_DIR;
  if (wanted) return wanted;
  if (platform === "win32") return join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "gsv");
  const usual = join(home, ".local", "bin");
  const own = pathFolders(system).filter((folder) => isBelow(home, folder) && isWritable(folder));
  return [usual, join(home, "bin")].find((folder) => own.includes(folder)) ?? (existsSync(usual) ? usual : (own[0] ?? usual));
}

function pathFolders({ env }: System): string[] {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter);
  return folders.filter((folder) => isAbsolute(folder) && !folder.split(sep).includes("node_modules"));
}

function fileName({ platform }: System): string {
  return platform === "win32" ? "gsv.cmd" : "gsv";
}

/** Uses the Node that runs now, and if that is gone, the one on PATH. */
function launcherText(program: string, file: string, { platform }: System): string {
  const clone = dirname(dirname(program));
  if (platform === "win32")
    return [`@rem ${MARK}`, `@rem ${CLONE}${clone}`, `@set "GSV_COMMAND=${file}"`, `@node "${program}" %*`, ""].join("\r\n");
  return `#!/bin/sh
# ${MARK}
# ${CLONE}${clone}
# To remove this command: gsv command remove
node=${shellQuote(process.execPath)}
[ -x "$node" ] || node=node
program=${shellQuote(program)}
if [ ! -f "$program" ]; then
  echo "gsv: $program does not exist any more. Run npx gsv command install in the clone of GSV, or delete $0" >&2
  exit 127
fi
GSV_COMMAND=${shellQuote(file)} exec "$node" "$program" "$@"
`;
}

function isBelow(parent: string, folder: string): boolean {
  const path = relative(parent, folder);
  return path !== "" && !path.startsWith("..") && !isAbsolute(path);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
