// Lines typed at `gsv shell`, kept for the next time in a private file beside the configuration. Losing them is no
// failure, so nothing here throws.

import { closeSync, fchmodSync, mkdirSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { openToAppend, readOwn, replaceFile } from "../../hosts/node/own-files.ts";
import { configPath } from "../session/config-file.ts";

export const HISTORY_LINES = 1_000;

export function historyPath(config = configPath()): string {
  return join(dirname(config), "shell_history");
}

/** The newest first; a file that has grown to twice what is kept is cut. */
export function readHistory(file: string): string[] {
  try {
    const lines = (readOwn(file) ?? "").split("\n").filter(Boolean);
    if (lines.length > 0) withHistory(file, (handle) => fchmodSync(handle, 0o600));
    const kept = lines.slice(-HISTORY_LINES);
    if (lines.length > HISTORY_LINES * 2) replaceFile(file, kept.map((line) => `${line}\n`).join(""));
    return kept.toReversed();
  } catch {
    return [];
  }
}

/** At once, so that of two shells neither loses the other's lines. */
export function addToHistory(file: string, line: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    withHistory(file, (handle) => writeSync(handle, `${line.replaceAll("\n", " ")}\n`));
  } catch {
    // There is still the one in memory.
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

/** A line that begins with a space is nobody's business. */
export function isKept(line: string): boolean {
  return line.trim() !== "" && !/^\s/.test(line);
}
