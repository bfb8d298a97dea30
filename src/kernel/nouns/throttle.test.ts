// Rate limits for guessing, on a real table: how many attempts are allowed, how the wait grows, who is not affected, and what happens
// when the clock is set back.

import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import { SysError } from "../../lib/sys-error.ts";
import { StorageError } from "../../ports/sql.ts";
import { migrate } from "../schema/migrate.ts";
import { Throttle } from "./throttle.ts";

const CRYPTO = memoryCrypto(new Random("throttle"));
const START = 1_763_200_000_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe("one account from one address", () => {
  it("has five attempts at once, then one per minute", () => {
    const throttle = fresh();
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.0.0.1", START);
    expect(waitMs(throttle, "alice", "10.0.0.1", START)).toBe(MINUTE);
    expect(waitMs(throttle, "alice", "10.0.0.1", START + MINUTE - 1)).toBe(1);
    throttle.countAttempt("alice", "10.0.0.1", START + MINUTE);
    expect(waitMs(throttle, "alice", "10.0.0.1", START + MINUTE)).toBeGreaterThan(0);
  });

  it("admits an attempt exactly when the announced wait is over, and never admits more than the budget", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 * MINUTE }), { minLength: 1, maxLength: 40 }), (pauses) => {
        const throttle = fresh();
        let now = START;
        let admitted = 0;
        for (const pause of pauses) {
          now += pause;
          const wait = waitMs(throttle, "alice", "10.0.0.1", now);
          if (wait > 0) {
            // Waits are rounded up to whole milliseconds.
            if (wait > 2) expect(waitMs(throttle, "alice", "10.0.0.1", now + wait - 2)).toBeGreaterThan(0);
            expect(waitMs(throttle, "alice", "10.0.0.1", now + wait)).toBe(0);
            now += wait;
          }
          throttle.countAttempt("alice", "10.0.0.1", now);
          admitted++;
          expect(admitted).toBeLessThanOrEqual(5 + (now - START) / MINUTE);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("does not let others use up the owner's budget at a known address by typing names that look like its key", () => {
    const throttle = fresh();
    throttle.recordSuccess(throttle.countAttempt("alice", "10.0.0.1", START), START);
    for (const name of ["alice@10.0.0.1", "10.0.0.1 alice", "known:10.0.0.1 alice", "alice"])
      for (let i = 0; i < 5; i++) throttle.countAttempt(name, "10.0.0.2", START);
    expect(waitMs(throttle, "alice", "10.0.0.1", START)).toBe(0);
  });

  it("waits longer after each series of failures, up to 15 minutes", () => {
    const throttle = fresh();
    let now = START;
    const waits: number[] = [];
    for (let i = 0; i < 40; i++) {
      const wait = waitMs(throttle, "alice", "10.0.0.1", now);
      waits.push(wait);
      now += wait;
      throttle.countAttempt("alice", "10.0.0.1", now);
    }
    expect(waits.slice(5)).toEqual(waits.slice(5).toSorted((a, b) => a - b));
    expect(Math.max(...waits)).toBe(15 * MINUTE);
  });

  it("forgets failures after a success", () => {
    const throttle = fresh();
    for (let i = 0; i < 4; i++) throttle.countAttempt("alice", "10.0.0.1", START);
    throttle.recordSuccess(throttle.countAttempt("alice", "10.0.0.1", START), START);
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.0.0.1", START);
    expect(waitMs(throttle, "alice", "10.0.0.1", START)).toBeGreaterThan(0);
  });

  it("refunds an attempt that ended for another reason", () => {
    const throttle = fresh();
    for (let i = 0; i < 50; i++) throttle.cancel(throttle.countAttempt("alice", "10.0.0.1", START));
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.0.0.1", START);
    expect(waitMs(throttle, "alice", "10.0.0.1", START)).toBeGreaterThan(0);
  });
});

describe("other accounts and addresses", () => {
  it("stops one address after twenty attempts, whatever names it guesses", () => {
    const throttle = fresh();
    for (let i = 0; i < 20; i++) throttle.countAttempt(`user${i}`, "::ffff:10.0.0.1", START);
    expect(waitMs(throttle, "another", "10.0.0.1", START)).toBe(10_000);
    expect(waitMs(throttle, "another", "10.0.0.2", START)).toBe(0);
  });

  it("counts all addresses of one /64 as one", () => {
    const throttle = fresh();
    for (let i = 0; i < 20; i++) throttle.countAttempt(`user${i}`, `2001:db8::${i.toString(16)}`, START);
    expect(waitMs(throttle, "another", "2001:db8::ffff:1", START)).toBeGreaterThan(0);
    expect(waitMs(throttle, "another", "2001:db8:0:1::1", START)).toBe(0);
  });

  it("stops all unknown addresses after sixty attempts, then admits one per second", () => {
    const throttle = fresh();
    for (let i = 0; i < 60; i++) throttle.countAttempt(`user${i}`, `10.1.${i}.1`, START);
    expect(waitMs(throttle, "another", "10.2.0.1", START)).toBe(1_000);
    expect(waitMs(throttle, "another", "10.2.0.1", START + 1_000)).toBe(0);
  });

  it("does not stop the owner at an address from which they logged in before", () => {
    const throttle = fresh();
    throttle.recordSuccess(throttle.countAttempt("alice", "10.0.0.1", START), START);
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.9.9.9", START);
    expect(waitMs(throttle, "alice", "10.9.9.9", START)).toBeGreaterThan(0);
    expect(waitMs(throttle, "alice", "10.0.0.1", START)).toBe(0);
    // The known address has a budget of its own, for that account only.
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.0.0.1", START);
    expect(waitMs(throttle, "alice", "10.0.0.1", START)).toBeGreaterThan(0);
    expect(waitMs(throttle, "alice", "10.0.0.1", START + 31 * DAY)).toBe(0);
  });

  it("keeps the latest twenty addresses of an account", () => {
    const throttle = fresh();
    for (let i = 0; i < 25; i++) throttle.recordSuccess(throttle.countAttempt("alice", `10.0.${i}.1`, START + i), START + i);
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.9.9.9", START + 100);
    expect(waitMs(throttle, "alice", "10.0.24.1", START + 100)).toBe(0);
    expect(waitMs(throttle, "alice", "10.0.0.1", START + 100)).toBeGreaterThan(0);
  });

  it("counts wrong tokens against their address only", () => {
    const throttle = fresh();
    for (let i = 0; i < 20; i++) throttle.countWrongToken("10.0.0.1", START);
    expect(() => throttle.countWrongToken("10.0.0.1", START)).toThrow(SysError);
    expect(waitMs(throttle, "alice", "10.0.0.2", START)).toBe(0);
  });
});

describe("rows that are rolled back", () => {
  it("do not refund a guess", () => {
    const { throttle, losing } = lossy();
    for (let i = 0; i < 5; i++) losing(() => throttle.countAttempt("alice", "10.0.0.1", START));
    expect(() => throttle.countAttempt("alice", "10.0.0.2", START)).toThrow("Too many attempts");
    for (let i = 0; i < 20; i++) losing(() => throttle.countWrongToken("10.0.0.3", START));
    expect(() => throttle.countWrongToken("10.0.0.3", START)).toThrow("Too many attempts");
    for (let i = 0; i < 20; i++) losing(() => throttle.countOperation("assist", "10.0.0.4", START));
    expect(() => throttle.countOperation("assist", "10.0.0.4", START)).toThrow("Too many attempts");
  });

  it("of a right password neither drop other users' failures nor restore the owner's", () => {
    const { throttle, losing } = lossy();
    for (let i = 0; i < 5; i++) throttle.countAttempt("bob", "10.0.0.2", START);
    for (let i = 0; i < 4; i++) throttle.countAttempt("alice", "10.0.0.1", START);
    losing(() => throttle.recordSuccess(throttle.countAttempt("alice", "10.0.0.1", START), START));
    expect(waitMs(throttle, "bob", "10.0.0.3", START)).toBeGreaterThan(0);
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.0.0.1", START);
    expect(waitMs(throttle, "alice", "10.0.0.1", START)).toBeGreaterThan(0);
  });

  it("are written again with the next attempt, and count after a restart", () => {
    const { sql, throttle, losing } = lossy();
    for (let i = 0; i < 4; i++) losing(() => throttle.countAttempt("alice", "10.0.0.1", START));
    throttle.countAttempt("alice", "10.0.0.1", START);
    expect(waitMs(new Throttle(sql, CRYPTO), "alice", "10.0.0.9", START)).toBe(MINUTE);
  });
});

describe("a full disk", () => {
  it("refuses the attempt, which still counts", () => {
    const { sql, throttle } = lossy();
    const run = vi.spyOn(sql, "run").mockImplementation(() => {
      throw new StorageError(true, null);
    });
    for (let i = 0; i < 5; i++) expect(() => throttle.countAttempt("alice", "10.0.0.1", START)).toThrow(StorageError);
    run.mockRestore();
    expect(waitMs(throttle, "alice", "10.0.0.1", START)).toBe(MINUTE);
  });

  it("does not prevent a refund", () => {
    const { sql, throttle } = lossy();
    const attempt = throttle.countAttempt("alice", "10.0.0.1", START);
    vi.spyOn(sql, "run").mockImplementation(() => {
      throw new StorageError(true, null);
    });
    throttle.recordSuccess(attempt, START);
    throttle.cancel(attempt);
  });
});

describe("many addresses", () => {
  it("share one counter beyond ten thousand, and existing counters are kept", () => {
    const throttle = fresh();
    for (let i = 0; i < 20; i++) throttle.countWrongToken("10.200.0.1", START);
    for (let i = 0; i < 4; i++) throttle.countAttempt("alice", "10.201.0.1", START);
    let refused = 0;
    for (let i = 0; i < 11_000; i++) {
      try {
        throttle.countWrongToken(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, START);
      } catch {
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(900);
    expect(() => throttle.countWrongToken("10.200.0.1", START)).toThrow("Too many attempts");
    throttle.countAttempt("alice", "10.202.0.1", START + 1000);
    expect(waitMs(throttle, "alice", "10.203.0.1", START + 2000)).toBeGreaterThan(0);
    // When counters have drained, they are dropped and make room for others.
    throttle.countWrongToken("10.204.0.1", START + 4 * MINUTE);
    expect(waitMs(throttle, "carol", "10.204.0.2", START + 4 * MINUTE)).toBe(0);
  });
});

describe("time", () => {
  it("forgets failures after an hour", () => {
    const throttle = fresh();
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.0.0.1", START);
    throttle.prune(START + 61 * MINUTE);
    for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.0.0.1", START + 61 * MINUTE);
  });

  it("does not make the wait longer when the clock is set back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 * DAY }), (back) => {
        const throttle = fresh();
        for (let i = 0; i < 5; i++) throttle.countAttempt("alice", "10.0.0.1", START);
        const now = START - back;
        const wait = waitMs(throttle, "alice", "10.0.0.1", now);
        expect(wait).toBeLessThanOrEqual(MINUTE);
        expect(waitMs(throttle, "alice", "10.0.0.1", now + wait)).toBe(0);
      }),
      { numRuns: 20 },
    );
  });
});

it("stores a typed name only as a digest, unless the login succeeded", () => {
  const { sql, throttle } = lossy();
  const stored = () => JSON.stringify([sql.all("SELECT * FROM throttle"), sql.all("SELECT * FROM known_addresses")]);
  throttle.countAttempt("my secret", "10.0.0.1", START);
  throttle.cancel(throttle.countAttempt("my other secret", "10.0.0.1", START));
  expect(sql.all("SELECT key FROM throttle WHERE key LIKE 'account:%'")).toHaveLength(1);
  expect(stored()).not.toContain("secret");
  throttle.recordSuccess(throttle.countAttempt("alice", "10.0.0.1", START), START);
  throttle.countAttempt("alice", "10.0.0.1", START);
  expect(sql.all("SELECT username FROM known_addresses")).toEqual([{ username: "alice" }]);
});

/** `losing` runs a function and rolls back its rows, as a failed commit does. */
function lossy(): { sql: MemorySql; throttle: Throttle; losing: (body: () => void) => void } {
  const sql = new MemorySql();
  migrate(sql);
  const losing = (body: () => void) => {
    const lost = new Error("lost");
    const write = () =>
      sql.transaction(() => {
        body();
        throw lost;
      });
    expect(write).toThrow(lost);
  };
  return { sql, throttle: new Throttle(sql, CRYPTO), losing };
}

function fresh(): Throttle {
  const sql = new MemorySql();
  migrate(sql);
  return new Throttle(sql, CRYPTO);
}

/** How long an attempt would have to wait; the attempt itself is not counted. */
function waitMs(throttle: Throttle, account: string, address: string, now: number): number {
  try {
    throttle.cancel(throttle.countAttempt(account, address, now));
    return 0;
  } catch (error) {
    if (!(error instanceof SysError) || error.code !== 429) throw error;
    return (error.details as { retryAfterMs: number }).retryAfterMs;
  }
}
