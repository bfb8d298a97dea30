// Makes and syncs folders and files: a file can be promised only if its name is on disk too.

import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  syncFolder(dirname(folder));
}

/** Syncs the names in a folder, not the contents of its files. */
export function syncFolder(folder: string): void {
  syncFile(folder);
}

export function syncFile(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
