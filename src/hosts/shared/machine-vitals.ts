// Measures the machine that a Node process runs on, for the gateway and for devices. Every reader of a measurement within a few seconds
// gets the same one, so it costs nothing however many people look, and nothing at all while nobody does.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { arch, cpus, freemem, platform, release, totalmem, uptime, version } from "node:os";
import { promisify } from "node:util";
import type { MachineVitals, Room } from "../../ports/vitals.ts";

type CpuTimes = { busy: number; total: number };

const FRESH_MS = 3_000;
const VM_STAT_MS = 2_000;

/** `folder` is on the disk to measure. */
export function makeMachineVitals(folder: string): () => Promise<MachineVitals> {
  const system = describeSystem();
  let previous = readCpuTimes();
  let latest: { at: number; vitals: Promise<MachineVitals> } | null = null;
  const measure = async (): Promise<MachineVitals> => {
    const now = readCpuTimes();
    const cpuBusy = cpuBusyBetween(previous, now);
    previous = now;
    const [memory, disk] = await Promise.all([readMemory(), readDisk(folder)]);
    return { system, arch: arch(), cpuCount: cpus().length || null, cpuBusy, memory, disk, uptimeMs: Math.round(uptime() * 1000) };
  };
  return () => {
    const now = performance.now();
    if (latest === null || now - latest.at >= FRESH_MS) latest = { at: now, vitals: measure() };
    return latest.vitals;
  };
}

/** Null if the processors report no times, or none have passed. */
function cpuBusyBetween(before: CpuTimes, after: CpuTimes): number | null {
  const total = after.total - before.total;
  if (total <= 0) return null;
  return Math.min(1, Math.max(0, (after.busy - before.busy) / total));
}

function readCpuTimes(): CpuTimes {
  let [busy, total] = [0, 0];
  for (const { times } of cpus()) {
    const used = times.user + times.nice + times.sys + times.irq;
    busy += used;
    total += used + times.idle;
  }
  return { busy, total };
}

async function readMemory(): Promise<Room> {
  const totalBytes = totalmem();
  // On macOS the free memory of the system leaves out what it only caches, which is most of it.
  const reusable = platform() === "darwin" ? await readReusableBytes() : null;
  return { totalBytes, freeBytes: Math.min(totalBytes, reusable ?? freemem()) };
}

async function readReusableBytes(): Promise<number | null> {
  const run = promisify(execFile)("/usr/bin/vm_stat", { timeout: VM_STAT_MS });
  return run.then(
    ({ stdout }) => parseVmStat(stdout),
    () => null,
  );
}

/** The bytes that macOS can give to programs; null if the text has another form. */
export function parseVmStat(text: string): number | null {
  const pageBytes = Number(/page size of (\d+) bytes/.exec(text)?.[1] ?? NaN);
  const pages = ["free", "inactive", "speculative", "purgeable"].map((kind) =>
    Number(new RegExp(`^Pages ${kind}:\\s+(\\d+)\\.`, "m").exec(text)?.[1] ?? 0),
  );
  const bytes = pageBytes * pages.reduce((sum, count) => sum + count, 0);
  return bytes > 0 ? bytes : null;
}

function readDisk(folder: string): Promise<Room | null> {
  return statfs(folder).then(
    ({ blocks, bavail, bsize }) => ({ totalBytes: blocks * bsize, freeBytes: bavail * bsize }),
    () => null,
  );
}

/** The name that people know the operating system by. */
function describeSystem(): string {
  if (platform() === "linux") return readLinuxName() ?? `Linux ${release()}`;
  if (platform() === "darwin") return `macOS (Darwin ${release()})`;
  return platform() === "win32" ? version() : `${platform()} ${release()}`;
}

function readLinuxName(): string | null {
  try {
    return /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}
