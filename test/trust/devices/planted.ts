// A device receives files into a directory that others can write to, where something was planted under the name of the partial
// file: symbolic links, hard links, pipes, directories. Nothing is written through it, nothing blocks, and the file arrives.

import { execFileSync } from "node:child_process";
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MachineFiles } from "../../../src/device/files.ts";
import type { Bar } from "../bar.ts";

const SECRET = "a file that nobody sent anything to";
const SENT = "what was sent";
const COMING = { size: SENT.length, tag: "planted", mode: 0o644 };
const bytes = (text: string) => new TextEncoder().encode(text);

const PLANTS: Record<string, (part: string, secret: string) => void> = {
  link: (part, secret) => symlinkSync(secret, part),
  "link to nothing": (part, secret) => symlinkSync(`${secret}-made`, part),
  "hard link": (part, secret) => linkSync(secret, part),
  directory: (part) => mkdirSync(part),
  pipe: (part) => execFileSync("mkfifo", ["-m", "600", part]),
  "file of ours": (part) => writeFileSync(part, SENT.slice(0, 3), { mode: 0o600 }),
  "open file": (part) => {
    writeFileSync(part, SENT.slice(0, 3), { mode: 0o600 });
    execFileSync("chmod", ["666", part]);
  },
};

export async function planted(bar: Bar, scratch: string): Promise<void> {
  for (const [what, plant] of Object.entries(PLANTS)) {
    const folder = join(scratch, `planted ${what}`);
    mkdirSync(folder);
    const [place, secret] = [join(folder, "file"), join(folder, "secret")];
    writeFileSync(secret, SECRET, { mode: 0o600 });
    const files = () => new MachineFiles(folder, null, join(folder, "parts"));
    const part = await partOf(files(), folder, place);
    // Renamed and not removed, or the planted file would reuse its inode number.
    renameSync(part, join(folder, "what came"));
    plant(part, secret);
    const before = identityOf(part);
    const problem = await receive(files(), place);
    bar.check("planted", problem === "", () => `${what}: ${problem}`);
    bar.check("planted", readFileSync(secret, "utf8") === SECRET, () => `${what}: a file elsewhere was written to`);
    bar.check("planted", (statSync(secret).mode & 0o777) === 0o600, () => `${what}: the mode of a file elsewhere was changed`);
    bar.check("planted", !readdirSync(folder).includes("secret-made"), () => `${what}: a file was made where the link leads`);
    bar.check("planted", identityOf(part) === before, () => `${what}: what was planted was changed or taken`);
    bar.check("planted", isPlainCopy(place), () => `${what}: what arrived is not the file that was sent`);
  }
}

/** The partial file that an interrupted transfer left. */
async function partOf(files: MachineFiles, folder: string, place: string): Promise<string> {
  const receipt = await files.receive(place, COMING);
  await receipt.write(bytes(SENT.slice(0, 3)));
  await receipt.abandon(false);
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".gsv-part"))!,
  );
}

/** Returns what went wrong, or "". */
async function receive(files: MachineFiles, place: string): Promise<string> {
  try {
    const receipt = await files.receive(place, COMING);
    await receipt.write(bytes(SENT).subarray(receipt.have));
    await receipt.finish("");
    return receipt.have === 0 ? "" : `went on with ${receipt.have} bytes of somebody else's`;
  } catch (error) {
    return String(error);
  }
}

function identityOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? "gone" : [found.ino, found.mode, found.size].join();
}

function isPlainCopy(place: string): boolean {
  const found = lstatSync(place, { throwIfNoEntry: false });
  return found?.isFile() === true && found.nlink === 1 && readFileSync(place, "utf8") === SENT;
}
