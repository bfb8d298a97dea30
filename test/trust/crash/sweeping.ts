// What no row names goes by itself: of a stopped gateway's directory, the next start is made to sweep at once, and is
// watched until only what is named is left.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const SWEPT_MS = 60_000;

/** The gateway is stopped. The blobs that have to stay, by name. */
export function sweepAtStart(home: string): Set<string> {
  const database = new DatabaseSync(join(home, "kernel.db"));
  try {
    database.exec("UPDATE timers SET due_at = 1 WHERE kind = 'sweep'");
    const rows = database.prepare("SELECT DISTINCT hash FROM files WHERE hash IS NOT NULL").all();
    return new Set(rows.map(({ hash }) => `file-${String(hash)}`));
  } finally {
    database.close();
  }
}

/** What nobody names and is still there when it should be gone. */
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
