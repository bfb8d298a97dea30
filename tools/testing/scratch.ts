// Where a test run keeps its temporary files: in memory where there is plenty, because tests wait for the disk more than
// for anything else. What they show does not depend on it: a killed process loses nothing that it has handed to the system.

import { mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const GIB = 1024 ** 3;

export function makeScratch(): string {
  return mkdtempSync(join(isRoomy() ? MEMORY : tmpdir(), "gsv-test-"));
}

/** Containers often have little of it, or allow no programs there. */
function isRoomy(): boolean {
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
