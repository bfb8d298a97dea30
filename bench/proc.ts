// A process's CPU time, memory and disk writes, read from /proc.

import { readdirSync, readFileSync } from "node:fs";

/** User and system time of all its threads so far. Linux counts it in hundredths of a second. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The same to the microsecond, of the threads that are alive: for work that is over within a few hundredths of a second. */
export function exactCpuMs(pid: number): number {
  const nanoseconds = (thread: string) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + nanoseconds(thread), 0) / 1e6;
}

/** User and system time of all its threads plus the time of its child processes that have ended. */
export function cpuMsWithPrograms(pid: number): number {
  const fields = statOf(pid);
  return cpuMs(pid) + (Number(fields[13]) + Number(fields[14])) * 10;
}

export function rssKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN);
}

/** Bytes it wrote towards the disk; sockets do not count. */
export function diskBytes(pid: number): number {
  return Number(/^write_bytes:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? Number.NaN);
}

function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name may hold spaces and brackets, so fields are counted from its end.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
