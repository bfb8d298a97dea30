// Processes that tests left behind. Everything a run starts knows its scratch folder, by its command line, its working
// directory or its environment; whatever does so after the run has outlived its test. Where there is no /proc, nothing is
// found.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Ends them, and says what they were. */
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

/** Empty where it is gone, or another user's. */
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
