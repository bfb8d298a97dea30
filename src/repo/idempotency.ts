// Makes writes idempotent: the result is stored under the caller's key in the write's own transaction. Owns the table
// results. The kernel stores results of its own writes in the same way (kernel/nouns/results.ts).

import { toHex } from "../lib/hex.ts";
import { fail } from "../lib/sys-error.ts";
import type { Sql } from "../ports/sql.ts";
import { Sha1 } from "./sha1.ts";
import { toBytes } from "./text.ts";

const RESULT_TTL_MS = 24 * 60 * 60 * 1000;

export type IdempotencyKey = {
  /** Includes the caller, so that keys of two users never collide. */
  key?: string | undefined;
  now: number;
};

export function runIdempotent<T>(sql: Sql, { key, now }: IdempotencyKey, request: unknown, body: () => T): T {
  if (key === undefined) return sql.transaction(body);
  const digest = toHex(new Sha1().update(toBytes(JSON.stringify(request))).digest());
  return sql.transaction(() => {
    sql.run("DELETE FROM results WHERE created_at <= ?", now - RESULT_TTL_MS);
    const row = sql.get("SELECT request, result FROM results WHERE key = ?", key);
    if (row !== undefined) {
      if (row.request !== digest) fail(409, "This key was used for another request");
      return JSON.parse(String(row.result)) as T;
    }
    const value = body();
    sql.run("INSERT INTO results VALUES (?, ?, ?, ?)", key, digest, JSON.stringify(value), now);
    return value;
  });
}
