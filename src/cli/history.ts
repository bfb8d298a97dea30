// Lines typed at `gsv shell`, kept for the next time in a private file beside the configuration. Losing them is no
// failure, so nothing here throws.

import { appendFileSync, chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { configPath } from "./config-file.ts";

export const HISTORY_LINES = 1_000;

export function historyPath(config = configPath()): string {
  return join(dirname(config), "shell_history");
}

/** The newest first; a file that has grown to twice what is kept is cut. */
export function readHistory(file: string): string[] {
  try {
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
    const kept = lines.slice(-HISTORY_LINES);
    chmodSync(file, 0o600);
    if (lines.length > HISTORY_LINES * 2) {
      const fresh = `${file}.${process.pid}.new`;
      writeFileSync(fresh, kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
      renameSync(fresh, file);
    }
    return kept.toReversed();
  } catch {
    return [];
  }
}

/** At once, so that of two shells neither loses the other's lines. */
export function addToHistory(file: string, line: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    appendFileSync(file, `${line.replaceAll("\n", " ")}\n`, { mode: 0o600 });
  } catch {
    // There is still the one in memory.
  }
}

/** A line that begins with a space is nobody's business. */
export function isKept(line: string): boolean {
  return line.trim() !== "" && !/^\s/.test(line);
}
