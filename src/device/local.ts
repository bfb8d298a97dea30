// Directories of this machine's own disks. There a look at a small file takes microseconds, less than handing it to the
// thread pool does: five times less for a read. Anywhere else it may take for ever, as where a server of files is gone, and
// the daemon must not stand still: so a directory counts only after it was found, without links, on such a disk.

import { readFileSync } from "node:fs";
import { realpath } from "node:fs/promises";

const DISKS = new Set([
  "ext2",
  "ext3",
  "ext4",
  "xfs",
  "btrfs",
  "zfs",
  "f2fs",
  "bcachefs",
  "tmpfs",
  "ramfs",
  "overlay",
  "squashfs",
  "erofs",
]);
/** After so long it is looked at again: something may have been mounted meanwhile. */
const KNOWN_MS = 5_000;
const KNOWN_MAX = 1_000;

export class LocalDirectories {
  readonly #knownUntil = new Map<string, number>();
  readonly #mounts: () => string;

  /** Linux's list of mounts; elsewhere there is none, and no directory is known. */
  constructor(mounts: () => string = () => (process.platform === "linux" ? readFileSync("/proc/self/mountinfo", "utf8") : "")) {
    this.#mounts = mounts;
  }

  has(directory: string): boolean {
    return (this.#knownUntil.get(directory) ?? 0) > Date.now();
  }

  /** For the next time. */
  async learn(directory: string): Promise<void> {
    // Nobody asks twice while the first is looking.
    if (this.#knownUntil.has(directory) && !this.#isOld(directory)) return;
    if (this.#knownUntil.size >= KNOWN_MAX) this.#knownUntil.clear();
    this.#knownUntil.set(directory, 0);
    const isDirect = (await realpath(directory).catch(() => null)) === directory;
    if (isDirect && isOnDisk(this.#mounts(), directory)) this.#knownUntil.set(directory, Date.now() + KNOWN_MS);
    else this.#knownUntil.delete(directory);
  }

  #isOld(directory: string): boolean {
    const until = this.#knownUntil.get(directory) ?? 0;
    return until !== 0 && until <= Date.now();
  }
}

/** By the innermost mount it is below; of two at one place the later counts. */
function isOnDisk(mountinfo: string, directory: string): boolean {
  let [innermost, kind] = ["", ""];
  for (const line of mountinfo.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const place = unescaped(left.split(" ")[4] ?? "");
    if (place === "" || !(place === "/" || directory === place || directory.startsWith(`${place}/`))) continue;
    if (place.length >= innermost.length) [innermost, kind] = [place, right.split(" ")[0] ?? ""];
  }
  return DISKS.has(kind);
}

/** Blanks and the like are written in octal there. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
