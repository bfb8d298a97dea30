// Finds processes that tests left behind. Every process of a run has its scratch folder in its command line, its working
// directory or its environment; one that still runs after the run has outlived its test. Finds nothing without /proc.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Kills them and returns their command lines. */
export function endLeftovers(scratch: string): string[] {
  if (!existsSync("/proc/self/cmdline")) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
      const isOurs = [command, read(`/proc/${pid}/environ`), link(`/proc/${pid}/cwd`)].some((text) => text.includes(scratch));
      if (!isOurs || command === "") return [];
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        return [];
      }
      return [command.slice(0, 200)];
    });
}

/** Empty if the process has exited or belongs to another user. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function link(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}
