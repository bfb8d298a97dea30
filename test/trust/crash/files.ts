// Checks a stopped gateway's directory: file modes, the database's own checks, and rows that only make sense together. Opens a
// copy of the database, so that recovering it stays the gateway's work.

import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { recoverJournal } from "../../../src/hosts/node/journal/recover.ts";
import type { Model } from "./model.ts";
import type { Oracle } from "./oracle.ts";
import { checkShelf } from "./shelf.ts";
import type { World } from "./world.ts";

export function checkFiles(world: World): void {
  const { home, model } = world;
  checkModes(home, model.oracle);
  checkRepositories(home, model.oracle);
  const folder = mkdtempSync(join(tmpdir(), "gsv-crash-copy-"));
  try {
    for (const part of ["kernel.db", "kernel.db-wal", "processes", "journal"])
      if (existsSync(join(home, part))) cpSync(join(home, part), join(folder, part), { recursive: true });
    recoverJournal(folder);
    const database = new DatabaseSync(join(folder, "kernel.db"));
    try {
      checkDatabase(database, model.oracle);
      checkWholeness(database, model.oracle);
      checkRows(database, model);
      checkShelf(database, world);
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Only the gateway's own user may read any of it, logs and the database's side files included. */
export function checkModes(home: string, oracle: Oracle): void {
  const paths = readdirSync(home, { recursive: true, encoding: "utf8" }).map((path) => join(home, path));
  for (const path of [home, ...paths]) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    const wanted = stat.isDirectory() ? 0o700 : 0o600;
    if ((stat.mode & 0o777) !== wanted) oracle.violate("mode", `${path} has mode ${(stat.mode & 0o777).toString(8)}`);
  }
}

/** How many pages the database of a stopped gateway has. */
export function pagesOf(home: string): number {
  recoverJournal(home);
  const database = new DatabaseSync(join(home, "kernel.db"));
  try {
    return Number(Object.values(database.prepare("PRAGMA page_count").get() ?? {})[0]);
  } finally {
    database.close();
  }
}

/** Each repository has its own database. */
function checkRepositories(home: string, oracle: Oracle): void {
  const folder = join(home, "repos");
  const copies = mkdtempSync(join(tmpdir(), "gsv-crash-copy-"));
  try {
    for (const name of existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".db")) : []) {
      for (const end of ["", "-wal"])
        if (existsSync(join(folder, name + end))) copyFileSync(join(folder, name + end), join(copies, name + end));
      const database = new DatabaseSync(join(copies, name));
      checkDatabase(database, oracle);
      const isMade = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'refs'").get() !== undefined;
      for (const [what, query] of Object.entries(isMade ? DANGLING : {})) {
        const rows = database.prepare(query).all();
        if (rows.length > 0) oracle.violate("half", `${name}: ${what}: ${JSON.stringify(rows.slice(0, 5))}`);
      }
      database.close();
    }
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}

/** A pack that was cut may leave objects in `incoming` until the next start, where nobody sees them. */
const DANGLING: Record<string, string> = {
  "ref without object": "SELECT name FROM refs WHERE oid NOT IN (SELECT oid FROM objects)",
  "commit without object": "SELECT oid FROM commits WHERE oid NOT IN (SELECT oid FROM objects) OR tree NOT IN (SELECT oid FROM objects)",
  "object without bytes":
    "SELECT oid FROM objects WHERE (SELECT count(*) FROM chunks WHERE id >= first AND id < first + objects.chunks) <> objects.chunks",
};

function checkDatabase(database: DatabaseSync, oracle: Oracle): void {
  const integrity = database
    .prepare("PRAGMA integrity_check")
    .all()
    .map((row) => String(row.integrity_check));
  if (integrity.join() !== "ok") oracle.violate("damaged", `integrity_check: ${integrity.slice(0, 5).join("; ")}`);
  const dangling = database.prepare("PRAGMA foreign_key_check").all();
  if (dangling.length > 0) oracle.violate("damaged", `foreign_key_check: ${JSON.stringify(dangling.slice(0, 5))}`);
}

/** Each of these queries finds the remains of a partial write. */
const HALVES: Record<string, string> = {
  "user without password entry": "SELECT username FROM passwd WHERE username NOT IN (SELECT username FROM shadow)",
  "password entry without user": "SELECT username FROM shadow WHERE username NOT IN (SELECT username FROM passwd)",
  "user without own group":
    "SELECT username FROM passwd WHERE uid >= 1000 AND NOT EXISTS (SELECT 1 FROM groups g WHERE g.gid = passwd.gid AND g.name = passwd.username)",
  "own group without user": "SELECT name FROM groups WHERE gid >= 1000 AND name NOT IN (SELECT username FROM passwd)",
  "user outside of users":
    "SELECT username FROM passwd WHERE uid >= 1000 AND username NOT IN (SELECT username FROM group_members WHERE gid = 100)",
  "member who does not exist": "SELECT username FROM group_members WHERE username NOT IN (SELECT username FROM passwd)",
  "token of nobody": "SELECT label FROM auth_tokens WHERE uid NOT IN (SELECT uid FROM passwd)",
  "file without directory":
    "SELECT path FROM files f WHERE path <> '/' AND NOT EXISTS (SELECT 1 FROM files d WHERE d.path = f.parent AND d.kind = 'directory')",
  "file in another directory than its name says":
    "SELECT path, parent FROM files WHERE path <> '/' AND (substr(path, 1, length(parent)) <> parent OR instr(substr(path, length(rtrim(parent, '/')) + 2), '/') > 0)",
  "directory with content": "SELECT path FROM files WHERE kind = 'directory' AND (hash IS NOT NULL OR size <> 0)",
  "file without content": "SELECT path FROM files WHERE kind = 'file' AND hash IS NULL",
  "content of no file": "SELECT hash FROM file_contents WHERE hash NOT IN (SELECT hash FROM files WHERE hash IS NOT NULL)",
  "user without home": "SELECT username FROM passwd WHERE uid >= 1000 AND home NOT IN (SELECT path FROM files WHERE uid = passwd.uid)",
  "capability of no group": "SELECT gid, capability FROM group_capabilities WHERE gid NOT IN (SELECT gid FROM groups)",
};

function checkWholeness(database: DatabaseSync, oracle: Oracle): void {
  for (const [name, query] of Object.entries(HALVES)) {
    const rows = database.prepare(query).all();
    if (rows.length > 0) oracle.violate("half", `${name}: ${JSON.stringify(rows.slice(0, 5))}`);
  }
}

/** A crash may just have happened, so any value in a register's interval is allowed, and none is settled. */
function checkRows(database: DatabaseSync, model: Model): void {
  const { oracle } = model;
  const config = new Map(
    database
      .prepare("SELECT key, value, sealed FROM config_kv")
      .all()
      .map((row) => [String(row.key), row]),
  );
  for (const [key, register] of model.config) {
    const row = config.get(key);
    const mustSeal = key.endsWith("_secret");
    if (row === undefined ? !register.allows(null) : !mustSeal && !register.allows(String(row.value)))
      oracle.violate("lost", `file: config ${key}: expected ${register.expected()}, found ${JSON.stringify(row ?? null).slice(0, 120)}`);
    if (row !== undefined && mustSeal && (row.sealed !== 1 || String(row.value).includes(key)))
      oracle.violate("wrong", `file: config ${key} is not sealed`);
  }
  const tokens = new Map(
    database
      .prepare("SELECT token_id, token_hash, revoked_at FROM auth_tokens")
      .all()
      .map((row) => [row.token_id, row]),
  );
  for (const { label, issued, revoked } of model.tokens.values()) {
    if (issued === null) continue;
    const row = tokens.get(issued.tokenId);
    if (row?.token_hash !== `$token-sha256$${createHash("sha256").update(issued.token).digest("hex")}`)
      oracle.violate("lost", `file: token ${label} is gone or has another value`);
    else if (!revoked.allows(row.revoked_at === null ? "no" : "yes"))
      oracle.violate("revived", `file: token ${label}: expected revoked ${revoked.expected()}`);
  }
  const keys = new Set<unknown>(
    database
      .prepare("SELECT key FROM idempotency")
      .all()
      .map((row) => row.key),
  );
  // Repositories store their results themselves.
  for (const { key, call } of model.answered.filter((op) => op.call !== "repo.apply"))
    if (!keys.has(key)) oracle.violate("lost", `file: the result of ${call} with key ${key}`);
  const devices = new Set(
    database
      .prepare("SELECT name FROM devices")
      .all()
      .map((row) => row.name),
  );
  for (const device of model.devices) if (!devices.has(device)) oracle.violate("lost", `file: device ${device}`);
}
