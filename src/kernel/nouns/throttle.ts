// The one brake on guessing, for every door a password, token or code can be tried at. Owns throttle and
// known_addresses. A try is counted before anything is hashed and given back when it was right, so failures alone
// use the budget up and a burst of parallel tries cannot slip past it.
//
// An address from which an account was entered before has a budget of its own, so that a stranger's guessing cannot
// lock the owner out.

import { addressKey } from "../../lib/address.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Sql } from "../../ports/sql.ts";

type Budget = { burst: number; everyMs: number; growsToMs: number };

const ACCOUNT: Budget = { burst: 5, everyMs: 60_000, growsToMs: 15 * 60_000 };
const ADDRESS: Budget = { burst: 20, everyMs: 10_000, growsToMs: 10_000 };
const GATEWAY: Budget = { burst: 60, everyMs: 1_000, growsToMs: 1_000 };

/**
 * What costs somebody something each time, right or wrong: a question to a model before anybody has an account, a try at a
 * provider. By whom it is asked, and by all together.
 */
const COSTS = {
  assist: { each: steady(20, 30_000), all: steady(40, 60_000) },
  check: { each: steady(40, 5_000), all: steady(80, 2_000) },
} satisfies Record<string, { each: Budget; all: Budget }>;

/** After so many further failures in a row the wait doubles. */
const GROWTH_EVERY = 3;
const KNOWN_MS = 30 * 24 * 60 * 60 * 1000;
const KNOWN_MAX = 20;
const PRUNE_MS = 60 * 60 * 1000;

export type Try = { keys: [string, Budget][]; account: string; address: string };

export class Throttle {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Counts one try, or fails with 429 and how long to wait. */
  take(account: string, address: string, now: number): Try {
    const where = addressKey(address);
    const keys: [string, Budget][] = this.#isKnown(account, where, now)
      ? // A kind of its own: a name is whatever somebody typed, and must not be able to spell this key.
        [[`known:${where} ${account}`, ACCOUNT]]
      : [
          [`account:${account}`, ACCOUNT],
          [`address:${where}`, ADDRESS],
          ["gateway", GATEWAY],
        ];
    const waitMs = Math.max(...keys.map(([key, budget]) => this.#waitMs(key, budget, now)));
    if (waitMs > 0) refuse(waitMs);
    this.#sql.relaxed(() => keys.forEach(([key, budget]) => this.#add(key, budget, now)));
    return { keys, account, address: where };
  }

  /**
   * Counts a wrong token. It is counted after the fact, because looking a token up costs nothing and its 256 bits
   * cannot be guessed: a right one must not suffer from its neighbours.
   */
  wrongToken(address: string, now: number): void {
    const key = `address:${addressKey(address)}`;
    const waitMs = this.#waitMs(key, ADDRESS, now);
    if (waitMs > 0) refuse(waitMs);
    this.#sql.relaxed(() => this.#add(key, ADDRESS, now));
  }

  /** Counts one use of what costs something, or fails with 429. `who` is an address or a user. */
  spend(what: keyof typeof COSTS, who: string, now: number): void {
    const { each, all } = COSTS[what];
    const keys: [string, Budget][] = [
      [`${what}:${addressKey(who)}`, each],
      [`${what}-all`, all],
    ];
    const waitMs = Math.max(...keys.map(([key, budget]) => this.#waitMs(key, budget, now)));
    if (waitMs > 0) refuse(waitMs);
    this.#sql.relaxed(() => keys.forEach(([key, budget]) => this.#add(key, budget, now)));
  }

  /** The try was right: give it back and remember where it came from. */
  succeeded(attempt: Try, now: number): void {
    this.#sql.relaxed(() => {
      for (const [key] of attempt.keys) {
        if (/^(?:account|known):/.test(key)) this.#sql.run("DELETE FROM throttle WHERE key = ?", key);
        else this.#sql.run("UPDATE throttle SET level = max(0, level - 1), streak = max(0, streak - 1) WHERE key = ?", key);
      }
      this.#sql.run("INSERT OR REPLACE INTO known_addresses VALUES (?, ?, ?)", attempt.account, attempt.address, now);
      this.#sql.run(
        `DELETE FROM known_addresses WHERE username = ?1 AND address NOT IN
           (SELECT address FROM known_addresses WHERE username = ?1 ORDER BY seen_at DESC LIMIT ?2)`,
        attempt.account,
        KNOWN_MAX,
      );
    });
  }

  /** The try ended for a reason that says nothing about the guess. */
  cancelled(attempt: Try): void {
    this.#sql.relaxed(() => {
      for (const [key] of attempt.keys)
        this.#sql.run("UPDATE throttle SET level = max(0, level - 1), streak = max(0, streak - 1) WHERE key = ?", key);
    });
  }

  prune(now: number): void {
    this.#sql.run("DELETE FROM throttle WHERE at < ?", now - PRUNE_MS);
    this.#sql.run("DELETE FROM known_addresses WHERE seen_at < ?", now - KNOWN_MS);
  }

  nextPruneAt(): number | null {
    const tried = this.#sql.get("SELECT min(at) AS at FROM throttle")?.at;
    const seen = this.#sql.get("SELECT min(seen_at) AS at FROM known_addresses")?.at;
    const due = Math.min(tried == null ? Infinity : Number(tried) + PRUNE_MS, seen == null ? Infinity : Number(seen) + KNOWN_MS);
    return due === Infinity ? null : due;
  }

  #waitMs(key: string, budget: Budget, now: number): number {
    const { level, everyMs } = this.#read(key, budget, now);
    return level <= budget.burst - 1 ? 0 : Math.ceil((level - (budget.burst - 1)) * everyMs);
  }

  #add(key: string, budget: Budget, now: number): void {
    const { level, streak } = this.#read(key, budget, now);
    this.#sql.run("INSERT OR REPLACE INTO throttle VALUES (?, ?, ?, ?)", key, level + 1, streak + 1, now);
  }

  /** The level as it has drained until now: one try every `everyMs`, which grows with the streak. */
  #read(key: string, budget: Budget, now: number): { level: number; streak: number; everyMs: number } {
    const row = this.#sql.get("SELECT level, streak, at FROM throttle WHERE key = ?", key);
    if (row === undefined) return { level: 0, streak: 0, everyMs: budget.everyMs };
    const streak = Number(row.streak);
    const doublings = Math.floor(Math.max(0, streak - budget.burst) / GROWTH_EVERY);
    const everyMs = Math.min(budget.growsToMs, budget.everyMs * 2 ** doublings);
    // A clock set back must not lengthen the wait: the time counts from now, not from when the clock catches up.
    if (Number(row.at) > now) this.#sql.relaxed(() => this.#sql.run("UPDATE throttle SET at = ? WHERE key = ?", now, key));
    const elapsedMs = Math.max(0, now - Number(row.at));
    return { level: Math.max(0, Number(row.level) - elapsedMs / everyMs), streak, everyMs };
  }

  #isKnown(account: string, address: string, now: number): boolean {
    return (
      this.#sql.get(
        "SELECT 1 FROM known_addresses WHERE username = ? AND address = ? AND seen_at > ?",
        account,
        address,
        now - KNOWN_MS,
      ) !== undefined
    );
  }
}

function steady(burst: number, everyMs: number): Budget {
  return { burst, everyMs, growsToMs: everyMs };
}

function refuse(waitMs: number): never {
  fail(429, `Too many attempts: try again in ${Math.ceil(waitMs / 1000)} s`, { retryAfterMs: waitMs });
}
