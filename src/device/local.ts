// Directories on this machine's own disks. There a synchronous access to a small file takes microseconds, less than the thread
// pool needs: five times less for a read. Elsewhere it may block forever, for example when a file server is gone, and the daemon
// must not hang. So a directory counts as local only after a check has found it on such a disk, with no symlinks in its path.

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
/** After this time it is checked again: something may have been mounted meanwhile. */
const KNOWN_MS = 5_000;
const KNOWN_MAX = 1_000;

export class LocalDirectories {
  readonly #knownUntil = new Map<string, number>();
  readonly #mounts: () => string;

  /** `mounts` returns Linux's list of mounts; elsewhere it is empty, and no directory is known. */
  constructor(mounts: () => string = () => (process.platform === "linux" ? readFileSync("/proc/self/mountinfo", "utf8") : "")) {
    this.#mounts = mounts;
  }

  has(directory: string): boolean {
    return (this.#knownUntil.get(directory) ?? 0) > Date.now();
  }

  /** Checks a directory for the next call of `has`. */
  async check(directory: string): Promise<void> {
    // Another check of it is already running, or its result is still valid.
    if (this.#knownUntil.has(directory) && !this.#isExpired(directory)) return;
    if (this.#knownUntil.size >= KNOWN_MAX) this.#knownUntil.clear();
    this.#knownUntil.set(directory, 0);
    const isDirect = (await realpath(directory).catch(() => null)) === directory;
    if (isDirect && isOnDisk(this.#mounts(), directory)) this.#knownUntil.set(directory, Date.now() + KNOWN_MS);
    else this.#knownUntil.delete(directory);
  }

  #isExpired(directory: string): boolean {
    const until = this.#knownUntil.get(directory) ?? 0;
    return until !== 0 && until <= Date.now();
  }
}

/** Decides by the innermost mount; of two at the same mount point the later one counts. */
function isOnDisk(mountinfo: string, directory: string): boolean {
  let [innermost, kind] = ["", ""];
  for (const line of mountinfo.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const mountPoint = decodeOctal(left.split(" ")[4] ?? "");
    if (mountPoint === "" || !(mountPoint === "/" || directory === mountPoint || directory.startsWith(`${mountPoint}/`))) continue;
    if (mountPoint.length >= innermost.length) [innermost, kind] = [mountPoint, right.split(" ")[0] ?? ""];
  }
  return DISKS.has(kind);
}

/** mountinfo writes blanks and similar characters in octal. */
function decodeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
