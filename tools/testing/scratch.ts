// The folder for temporary files of a test run: in memory if there is plenty, because tests wait for the disk more than for
// anything else. Results do not depend on it: a killed process loses nothing that it has passed to the operating system.

import { mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const GIB = 1024 ** 3;

export function makeScratch(): string {
  return mkdtempSync(join(isMemoryUsable() ? MEMORY : tmpdir(), "gsv-test-"));
}

/** Containers often have little shared memory, or mount it noexec. */
function isMemoryUsable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .findLast(([, place]) => place === MEMORY);
    const mayRun = mount !== undefined && !mount[3]?.split(",").includes("noexec");
    return mayRun && bavail * bsize > 4 * GIB && process.availableMemory() > 8 * GIB;
  } catch {
    return false;
  }
}
