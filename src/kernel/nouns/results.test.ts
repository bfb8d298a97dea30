// Stored results: expired ones are removed in steps, and the number of keys per user is limited.

import { expect, it } from "vitest";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import type { Req } from "../../protocol/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { migrate } from "../schema/migrate.ts";
import { Results } from "./results.ts";

const START = 1_763_200_000_000;

it("removes expired results in steps, and no others", () => {
  const { results, sql } = fresh();
  for (let at = 0; at < 2_500; at++) results.store(1000, request(`old ${at}`), {}, false, START);
  const now = START + LIMITS.idempotencyKeyMs;
  results.store(1000, request("new"), {}, false, now);
  expect([results.prune(now), results.prune(now), results.prune(now)]).toEqual([false, false, true]);
  expect(sql.all("SELECT key FROM idempotency")).toEqual([{ key: "new" }]);
});

it("refuses more keys than a user may have until some expire, pruned or not", () => {
  const { results, sql } = fresh();
  sql.run(
    `INSERT INTO idempotency
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIMITS.idempotencyKeysPerUser - 1})
       SELECT 1000, 'k' || i, '', '', 0, ${START} + i / 100000 FROM n`,
  );
  results.store(1000, request("the last"), {}, false, START);
  expect(() => results.store(1000, request("one more"), {}, false, START)).toThrow("Too many requests with a key");
  results.store(1001, request("somebody else's"), {}, false, START);
  expect(results.find(1000, request("the last"), START)).toEqual({ data: {} });
  // The first 99,999 keys and "the last" have expired; after that many new ones, one more is refused again.
  const now = START + LIMITS.idempotencyKeyMs;
  expect(() => results.store(1000, request("one more"), {}, false, now - 1)).toThrow("Too many requests with a key");
  results.prune(now);
  sql.run(
    `INSERT INTO idempotency
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99999) SELECT 1000, 'new ' || i, '', '', 0, ${now} FROM n`,
  );
  const again = new Results(sql, memoryCrypto(new Random("again")));
  again.store(1000, request("k1"), {}, false, now);
  expect(() => again.store(1000, request("one more"), {}, false, now)).toThrow("Too many requests with a key");
  // A millisecond later the next 100,000 have expired.
  for (let at = 0; at < 10; at++) again.store(1000, request(`later ${at}`), {}, false, now + 1);
  // When the clock is set back, they count again.
  expect(() => again.store(1000, request("before"), {}, false, now)).toThrow("Too many requests with a key");
});

it("counts exactly while expired keys are pruned step by step", () => {
  const { results, sql } = fresh();
  const live = () => LIMITS.idempotencyKeysPerUser - 5_000;
  sql.run(
    `INSERT INTO idempotency
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIMITS.idempotencyKeysPerUser})
       SELECT 1000, 'k' || i, '', '', 0, CASE WHEN i <= 5000 THEN ${START} ELSE ${START} + 1000 END FROM n`,
  );
  expect(() => results.store(1000, request("full"), {}, false, START + 1)).toThrow("Too many requests with a key");
  const now = START + LIMITS.idempotencyKeyMs;
  expect(results.prune(now)).toBe(false);
  for (let at = 0; at < LIMITS.idempotencyKeysPerUser - live(); at++) results.store(1000, request(`new ${at}`), {}, false, now);
  expect(() => results.store(1000, request("full"), {}, false, now)).toThrow("Too many requests with a key");
});

it("fails with an unknown outcome if a stored result cannot be read", () => {
  const { results, sql } = fresh();
  const unknown = expect.objectContaining({ code: 409, details: { outcome: "unknown" } }) as Error;
  results.store(1000, request("sealed"), { secret: "s" }, true, START);
  results.store(1000, request("plain"), {}, false, START);
  expect(results.find(1000, request("sealed"), START)).toEqual({ data: { secret: "s" } });
  sql.run("UPDATE idempotency SET result = 'damaged'");
  for (const key of ["sealed", "plain"]) expect(() => results.find(1000, request(key), START)).toThrow(unknown);
  sql.run("UPDATE idempotency SET request = 'damaged'");
  for (const key of ["sealed", "plain"]) expect(() => results.find(1000, request(key), START)).toThrow(unknown);
  expect(results.find(1000, request("sealed"), START + LIMITS.idempotencyKeyMs)).toBeUndefined();
});

function request(key: string): Req {
  return { type: "req", id: "1", call: "sys.user.password", args: { password: "correct horse" }, key };
}

function fresh(): { results: Results; sql: MemorySql } {
  const sql = new MemorySql();
  migrate(sql);
  return { sql, results: new Results(sql, memoryCrypto(new Random("results"))) };
}
