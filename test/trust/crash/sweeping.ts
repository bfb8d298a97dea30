// Blobs that no row names are swept: makes the next start of a stopped gateway sweep at once, and waits until only named blobs
// are left.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { recoverJournal } from "../../../src/hosts/node/journal/recover.ts";

const SWEPT_MS = 60_000;

/** Call it while the gateway is stopped. Returns the names of the blobs that must stay. */
export function sweepAtStart(home: string): Set<string> {
  recoverJournal(home);
  const database = new DatabaseSync(join(home, "kernel.db"));
  try {
    database.exec("UPDATE timers SET due_at = 1 WHERE kind = 'sweep'");
    const rows = database.prepare("SELECT DISTINCT hash FROM files WHERE hash IS NOT NULL").all();
    return new Set(rows.map(({ hash }) => `file-${String(hash)}`));
  } finally {
    database.close();
  }
}

/** Blobs that no row names and that are still there after the time to sweep them. */
export async function unswept(home: string, named: ReadonlySet<string>): Promise<string[]> {
  for (const until = performance.now() + SWEPT_MS; ;) {
    const left = blobsOf(home).filter((name) => !named.has(name));
    if (left.length === 0 || performance.now() > until) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function blobsOf(home: string): string[] {
  const folder = join(home, "blobs");
  return existsSync(folder) ? readdirSync(folder) : [];
}
