// Whether a directory may become, or is, a gateway's data directory. It is made private, which would shut others out of one
// that somebody named by mistake, and whoever can write to it owns the gateway. So it must be empty and ours, or hold what
// only GSV puts there. Looks, and changes nothing.

import { type BigIntStats, closeSync, lstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isOurs, isOwn, isPrivate } from "./own-files.ts";

const SQLITE_HEADER = "SQLite format 3\0";
const KEY_BYTES = 32n;

/** At least one of them is in every directory that a gateway has used. Names alone say little: others have a secret.key too. */
const GATEWAYS: ReadonlyMap<string, (found: BigIntStats, file: string) => boolean> = new Map([
  ["gateway.lock", ({ size }) => size === 0n],
  ["kernel.db", ({ size }, file) => size === 0n || startsWith(file, SQLITE_HEADER)],
  ["secret.key", ({ size }) => size === KEY_BYTES],
]);
/** What daemons and the CLI of the same user keep there, perhaps before there is a gateway. */
const NEIGHBOURS: ReadonlySet<string> = new Set(["logs", "device", "parts"]);
const ADVICE = "Choose with --home an empty directory, one that does not exist yet, or one that gsv has made";

export function mustBeForUs(path: string): void {
  const names = readdirSync(path).filter((name) => name !== "lost+found");
  if (names.some((name) => isOfAGateway(name, join(path, name)))) return;
  if (!isOurs(statSync(path, { bigint: true }))) throw new Error(`it belongs to another user. ${ADVICE}`);
  if (names.every((name) => NEIGHBOURS.has(name) && isPrivateFolder(join(path, name)))) return;
  throw new Error(`it holds other files and no gateway's data, and was left as it is. ${ADVICE}`);
}

function isOfAGateway(name: string, file: string): boolean {
  const fits = GATEWAYS.get(name);
  if (fits === undefined) return false;
  const found = lstatSync(file, { bigint: true });
  return isOwn(found) && fits(found, file);
}

function isPrivateFolder(path: string): boolean {
  const found = lstatSync(path, { bigint: true });
  return found.isDirectory() && isPrivate(found);
}

function startsWith(file: string, text: string): boolean {
  const handle = openSync(file, "r");
  try {
    const bytes = new Uint8Array(text.length);
    return readSync(handle, bytes, 0, bytes.length, 0) === bytes.length && new TextDecoder().decode(bytes) === text;
  } finally {
    closeSync(handle);
  }
}
