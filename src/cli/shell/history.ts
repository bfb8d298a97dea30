// The history of `gsv shell`, in a private file beside the configuration. Losing it is not an error, so nothing here throws.

import { closeSync, fchmodSync, mkdirSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { openToAppend, readOwnFile, replaceFile } from "../../hosts/shared/own-files.ts";
import { configPath } from "../session/config-file.ts";

export const HISTORY_LINES = 1_000;

export function historyPath(config = configPath()): string {
  return join(dirname(config), "shell_history");
}

/** Newest first. A file with more than twice the lines to keep is truncated. */
export function readHistory(file: string): string[] {
  try {
    const lines = (readOwnFile(file) ?? "").split("\n").filter(Boolean);
    if (lines.length > 0) withHistory(file, (handle) => fchmodSync(handle, 0o600));
    const kept = lines.slice(-HISTORY_LINES);
    if (lines.length > HISTORY_LINES * 2) replaceFile(file, kept.map((line) => `${line}\n`).join(""));
    return kept.toReversed();
  } catch {
    return [];
  }
}

/** Appends at once, so that two shells do not lose each other's lines. */
export function addToHistory(file: string, line: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    withHistory(file, (handle) => writeSync(handle, `${line.replaceAll("\n", " ")}\n`));
  } catch {
    // The history in memory still works.
  }
}

function withHistory<T>(file: string, work: (handle: number) => T): T {
  const handle = openToAppend(file);
  try {
    return work(handle);
  } finally {
    closeSync(handle);
  }
}

/** As in bash, a line that starts with a space is not stored. */
export function belongsInHistory(line: string): boolean {
  return line.trim() !== "" && !/^\s/.test(line);
}
