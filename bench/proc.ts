// What the system knows of a process: its processor time, its memory and what it wrote to disk, read from /proc.

import { readFileSync } from "node:fs";

/** User and system time of all its threads so far. The kernel counts in hundredths of a second. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The same with that of the programs it ran, once they have ended. */
export function cpuMsWithPrograms(pid: number): number {
  const fields = statOf(pid);
  return cpuMs(pid) + (Number(fields[13]) + Number(fields[14])) * 10;
}

export function rssKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN);
}

/** Bytes it sent towards the disk; sockets do not count. */
export function diskBytes(pid: number): number {
  return Number(/^write_bytes:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? Number.NaN);
}

function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name may hold spaces and brackets; fields are counted from behind it.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
