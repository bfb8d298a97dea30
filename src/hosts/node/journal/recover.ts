// Brings the databases up to what the journal has, after a gateway that did not shut down. Every database knows its version, which
// was committed together with its rows: entries up to that version are skipped, the others are applied in their order. A database
// that is older than the first entry that it lacks was replaced by hand; nothing is applied to it then, and the start fails.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { crashAt } from "../faults.ts";
import { syncFile, syncFolder } from "../folders.ts";
import { openDatabase } from "../sql-file.ts";
import { decodeSegment, type Entry, HEADER } from "./record.ts";
import { journalFolder, listSegments } from "./segment.ts";

const FILE = /^(?:kernel|processes\/[\w-]+)\.db$/;

/** What was recovered. `missing` are files that somebody removed, with a part of what the journal says of them. */
export type Recovery = { batches: number; missing: string[] };

/** `root` is the data directory, which no gateway uses. Throws if that cannot be done without a loss. */
export function recoverJournal(root: string): Recovery {
  const folder = journalFolder(root);
  const segments = existsSync(folder) ? listSegments(folder) : [];
  const recovery: Recovery = { batches: 0, missing: [] };
  for (const [file, entries] of groupByFile(readSegments(segments))) {
    if (!existsSync(join(root, file)) && entries[0]!.version > 1) recovery.missing.push(file);
    else recovery.batches += recoverFile(root, file, entries);
    crashAt("mid-recovery");
  }
  for (const segment of segments) rmSync(segment);
  return recovery;
}

/** The version of a database; 0 if the journal has not made it yet. */
export function readVersion(database: DatabaseSync): number {
  database.exec("CREATE TABLE IF NOT EXISTS journal_version (version INTEGER NOT NULL) STRICT");
  const row = database.prepare("SELECT version FROM journal_version").get();
  if (row === undefined) database.exec("INSERT INTO journal_version VALUES (0)");
  return Number(row?.version ?? 0);
}

export function writeVersion(database: DatabaseSync, version: number): void {
  database.exec(`UPDATE journal_version SET version = ${version}`);
}

/** Call it in a transaction. */
export function applyEntries(database: DatabaseSync, entries: readonly Entry[]): void {
  const statements = new Map<string, StatementSync>();
  for (const { writes } of entries)
    for (const [query, bindings] of writes) {
      let statement = statements.get(query);
      if (statement === undefined) statements.set(query, (statement = database.prepare(query)));
      statement.run(...bindings);
    }
}

function readSegments(segments: readonly string[]): Entry[] {
  return segments.flatMap((path, at) => {
    const bytes = readFileSync(path);
    const isLast = at === segments.length - 1;
    // The gateway died while it made this file.
    if (isLast && bytes.length < HEADER.length) return [];
    if (!bytes.subarray(0, HEADER.length).equals(HEADER)) throw new Error(`${path} was not written by this version of gsv`);
    const { entries, isWhole } = decodeSegment(bytes);
    // Only the end of the last one can have been cut: each was synced before the next began.
    if (!isWhole && !isLast) throw new Error(`${path} is damaged: restore the data directory from a backup`);
    return entries;
  });
}

function groupByFile(entries: readonly Entry[]): Map<string, Entry[]> {
  const files = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (!FILE.test(entry.file)) throw new Error(`the journal names an unknown file, ${entry.file}`);
    const known = files.get(entry.file);
    if (known === undefined) files.set(entry.file, [entry]);
    else known.push(entry);
  }
  return files;
}

/** Also syncs what the database has beyond the journal's last sync: the journal is removed afterwards. */
function recoverFile(root: string, file: string, entries: readonly Entry[]): number {
  const path = join(root, file);
  const database = openDatabase(path, "full");
  try {
    const version = readVersion(database);
    const lacking = entries.filter((entry) => entry.version > version);
    lacking.forEach((entry, at) => {
      if (entry.version === version + 1 + at) return;
      throw new Error(
        `${path} is older than the journal, which continues from version ${entry.version - 1} of it, not ${version + at}: ` +
          "restore the whole data directory from one backup",
      );
    });
    database.exec("BEGIN");
    applyEntries(database, lacking);
    if (lacking.length > 0) writeVersion(database, lacking.at(-1)!.version);
    database.exec("COMMIT");
    // Rows that were committed before the crash may not be synced yet, and nothing else has them once the journal is removed.
    if (existsSync(`${path}-wal`)) syncFile(`${path}-wal`);
    syncFolder(dirname(path));
    return lacking.length;
  } finally {
    database.close();
  }
}
