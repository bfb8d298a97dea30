// A program of ours that the system's service manager keeps running for its user. systemd.ts and launchd.ts are the two
// implementations.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { replaceFile } from "../../hosts/shared/own-files.ts";
import { Problem } from "../terminal/problem.ts";
import type { ProgramResult } from "./program.ts";

export type Service = {
  /** gsvd, the device daemon, or gsv, the gateway. */
  name: string;
  description: string;
  /** The program's absolute path and its arguments. */
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** How long it may take to stop before it is killed. */
  stopSeconds: number;
};

export type ServiceState = { isInstalled: boolean; isRunning: boolean; detail: string };

export interface ServiceManager {
  readonly name: string;
  /** The file that describes the service. */
  file(name: string): string;
  /** Writes its file, starts or restarts it, and lets it start with the machine. Returns remarks for the user. */
  install(service: Service): Promise<string[]>;
  start(name: string): Promise<void>;
  stop(name: string): Promise<void>;
  restart(name: string): Promise<void>;
  state(name: string): Promise<ServiceState>;
  /** False if it was not installed. */
  uninstall(name: string): Promise<boolean>;
}

/** This machine's service manager, or why none can be used. */
export async function findServiceManager(): Promise<ServiceManager | { none: string }> {
  if (process.platform === "linux") return (await import("./systemd.ts")).findSystemd();
  if (process.platform === "darwin") return (await import("./launchd.ts")).findLaunchd();
  return { none: `GSV supports services only on Linux and macOS, and this is ${process.platform}` };
}

/** For commands that need a service manager. */
export async function requireServiceManager(): Promise<ServiceManager> {
  const manager = await findServiceManager();
  if ("none" in manager) throw new Problem(manager.none);
  return manager;
}

/** Writes atomically, so that no manager reads half a file. */
export function writeServiceFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  replaceFile(file, text, { mode: 0o644 });
}

export function mustHaveSucceeded({ code, out, err }: ProgramResult, what: string): void {
  if (code !== 0) throw new Problem(`${what} failed: ${(err || out || `exit code ${code}`).split("\n").join(" ")}`);
}
