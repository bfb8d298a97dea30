// Decides whether a directory may be used as a gateway's data directory. The gateway makes it private, which would lock others
// out of a directory named by mistake, and anyone who can write to it owns the gateway. So it must be empty and ours, or hold
// files that only GSV makes. Only reads.

import { type BigIntStats, closeSync, lstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isOwnedByUs, isOwnPlainFile, isPrivate } from "../shared/own-files.ts";

const SQLITE_HEADER = "SQLite format 3\0";
const KEY_BYTES = 32n;

const LOCK = "gateway.lock";
const DATABASE = "kernel.db";
/**
 * Files that a gateway makes, in this order. One alone proves little, unless it is a database: other programs have empty files
 * and a secret.key too.
 */
const MARKS: ReadonlyMap<string, (found: BigIntStats, file: string) => boolean> = new Map([
  [LOCK, ({ size }) => size === 0n],
  ["secret.key", ({ size }) => size === KEY_BYTES],
  [DATABASE, ({ size }, file) => size === 0n || fileStartsWith(file, SQLITE_HEADER)],
]);
const MARKS_MIN = 2;
/** Between the lock and the key a gateway makes its log folder, and the key under a temporary name. */
const LOG = "log";
const NEW_KEY = /^secret\.key\.\d+\.new$/;
/** Folders that daemons and the CLI of the same user keep there, perhaps before there is a gateway. */
const NEIGHBOURS: ReadonlySet<string> = new Set(["logs", "device", "parts"]);
const ADVICE = "With --home, choose an empty directory, one that does not exist yet, or one that gsv has created";

export function checkDataDirectory(path: string): void {
  const names = readdirSync(path).filter((name) => name !== "lost+found");
  const marks = names.filter((name) => isGatewayMark(name, join(path, name)));
  if (marks.length >= MARKS_MIN || (marks.includes(DATABASE) && fileStartsWith(join(path, DATABASE), SQLITE_HEADER))) return;
  if (!isOwnedByUs(statSync(path, { bigint: true }))) throw new Error(`it belongs to another user. ${ADVICE}`);
  // Empty except for folders older than the gateway, or files of a gateway that was killed during its start or is just starting.
  const isFromStart = (name: string) => marks.includes(LOCK) && (name === LOCK || isStartFile(name, join(path, name)));
  if (names.every((name) => isFromStart(name) || (NEIGHBOURS.has(name) && isPrivateFolder(join(path, name))))) return;
  throw new Error(`it contains other files and no gateway data, and was not changed. ${ADVICE}`);
}

function isGatewayMark(name: string, file: string): boolean {
  const check = MARKS.get(name);
  const found = check && statIfExists(file);
  return found !== undefined && isOwnPlainFile(found) && check!(found, file);
}

function isStartFile(name: string, file: string): boolean {
  if (name === LOG) return isPrivateFolder(file);
  if (!NEW_KEY.test(name)) return false;
  const found = statIfExists(file);
  // Missing means that it has been renamed to its final name since.
  return found === undefined || isOwnPlainFile(found);
}

function statIfExists(file: string): BigIntStats | undefined {
  return lstatSync(file, { bigint: true, throwIfNoEntry: false });
}

function isPrivateFolder(path: string): boolean {
  const found = statIfExists(path);
  return found !== undefined && found.isDirectory() && isPrivate(found);
}

function fileStartsWith(file: string, text: string): boolean {
  const handle = openSync(file, "r");
  try {
    const bytes = new Uint8Array(text.length);
    return readSync(handle, bytes, 0, bytes.length, 0) === bytes.length && new TextDecoder().decode(bytes) === text;
  } finally {
    closeSync(handle);
  }
}
