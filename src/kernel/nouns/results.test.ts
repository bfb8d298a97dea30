// Results under a key: a day's worth goes in steps, and nobody keeps more than their share.

import { expect, it } from "vitest";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import type { Req } from "../../protocol/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { migrate } from "../schema/migrate.ts";
import { Results } from "./results.ts";

const START = 1_763_200_000_000;

it("removes what is too old in steps, and nothing else", () => {
  const { results, sql } = fresh();
  for (let at = 0; at < 2_500; at++) results.store(1000, request(`old ${at}`), {}, false, START);
  const now = START + LIMITS.idempotencyKeyMs;
  results.store(1000, request("new"), {}, false, now);
  expect([results.prune(now), results.prune(now), results.prune(now)]).toEqual([false, false, true]);
  expect(sql.all("SELECT key FROM idempotency")).toEqual([{ key: "new" }]);
});

it("refuses more keys than one user's share until a sweep has made room", () => {
  const { results, sql } = fresh();
  sql.run(
    `INSERT INTO idempotency
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIMITS.idempotencyKeysPerUser - 1})
       SELECT 1000, 'k' || i, '', '', 0, ${START} FROM n`,
  );
  results.store(1000, request("the last"), {}, false, START);
  expect(() => results.store(1000, request("one more"), {}, false, START)).toThrow("Too many requests with a key");
  results.store(1001, request("somebody else's"), {}, false, START);
  expect(results.find(1000, request("the last"), START)).toEqual({ data: {} });
  const now = START + LIMITS.idempotencyKeyMs;
  while (!results.prune(now)) continue;
  results.store(1000, request("one more"), {}, false, now);
});

function request(key: string): Req {
  return { type: "req", id: "1", call: "sys.user.password", args: { password: "correct horse" }, key };
}

function fresh(): { results: Results; sql: MemorySql } {
  const sql = new MemorySql();
  migrate(sql);
  return { sql, results: new Results(sql, memoryCrypto(new Random("results"))) };
}
