// The one brake on guessing, for every door a password, token or code can be tried at. Owns throttle and
// known_addresses. A try is counted before anything is hashed and given back when it was right, so failures alone
// use the budget up and a burst of parallel tries cannot slip past it.
//
// The counters are those in memory; rows are their copy, for the next start. A commit that fails takes rows back, and a full
// disk must not give guesses back with them.
//
// People type passwords where a name is asked for, so a counter's key holds a digest of what was typed. Only names that were entered
// with success are kept as they are, in known_addresses.
//
// An address from which an account was entered before has a budget of its own, so that a stranger's guessing cannot
// lock the owner out.

import { addressKey } from "../../lib/address.ts";
import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import { type Sql, StorageError } from "../../ports/sql.ts";

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
/**
 * Addresses that are counted one by one; others share one counter while there are so many. Only these need a bound: what makes
 * any other counter is itself limited for all together.
 */
const ADDRESSES_MAX = 10_000;
const OTHER_ADDRESSES = "address:";
/** How often it is looked for addresses that need not be counted any more. */
const TIDY_MS = 10_000;
/** Of what somebody typed for a name. No account has so long a one. */
const NAME_CHARS_MAX = 256;

type Counter = { level: number; streak: number; at: number; budget: Budget };

export type Try = { keys: [string, Budget][]; account: string; address: string };

export class Throttle {
  readonly #sql: Sql;
  readonly #crypto: Pick<Crypto, "sha256">;
  readonly #counters = new Map<string, Counter>();
  #addresses = 0;
  #tidiedAt = -Infinity;

  constructor(sql: Sql, crypto: Pick<Crypto, "sha256">) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  /** Counts one try, or fails with 429 and how long to wait. */
  take(username: string, address: string, now: number): Try {
    const account = username.slice(0, NAME_CHARS_MAX);
    const where = addressKey(address);
    const digest = toHex(this.#crypto.sha256(account));
    const keys: [string, Budget][] = this.#isKnown(account, where, now)
      ? [[`known:${where} ${digest}`, ACCOUNT]]
      : [[`account:${digest}`, ACCOUNT], this.#keyOfAddress(where, now), ["gateway", GATEWAY]];
    this.#count(keys, now);
    return { keys, account, address: where };
  }

  /**
   * Counts a wrong token. It is counted after the fact, because looking a token up costs nothing and its 256 bits
   * cannot be guessed: a right one must not suffer from its neighbours.
   */
  wrongToken(address: string, now: number): void {
    this.#count([this.#keyOfAddress(addressKey(address), now)], now);
  }

  /** Counts one use of what costs something, or fails with 429. `who` is an address or a user. */
  spend(what: keyof typeof COSTS, who: string, now: number): void {
    const { each, all } = COSTS[what];
    this.#count(
      [
        [`${what}:${addressKey(who)}`, each],
        [`${what}-all`, all],
      ],
      now,
    );
  }

  /** The try was right: give it back and remember where it came from. */
  succeeded(attempt: Try, now: number): void {
    for (const [key, budget] of attempt.keys) {
      if (/^(?:account|known):/.test(key)) this.#set(key, { level: 0, streak: 0, at: now, budget });
      else this.#giveBack(key);
    }
    this.#unlessFull(() => {
      this.#store(attempt.keys);
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
    for (const [key] of attempt.keys) this.#giveBack(key);
    this.#unlessFull(() => this.#store(attempt.keys));
  }

  prune(now: number): void {
    this.#tidy(now);
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

  /** All of them or, with 429, none. Where there is no room for the rows it counts all the same, and the try is refused. */
  #count(keys: readonly [string, Budget][], now: number): void {
    const waitMs = Math.max(...keys.map(([key, budget]) => this.#waitMs(key, budget, now)));
    if (waitMs > 0) refuse(waitMs);
    for (const [key, budget] of keys) {
      const { level, streak } = this.#read(key, budget, now);
      this.#set(key, { level: level + 1, streak: streak + 1, at: now, budget });
    }
    this.#sql.relaxed(() => this.#store(keys));
  }

  #giveBack(key: string): void {
    const counter = this.#counters.get(key);
    if (counter === undefined) return;
    counter.level = Math.max(0, counter.level - 1);
    counter.streak = Math.max(0, counter.streak - 1);
  }

  /** The level as it has drained until now: one try every `everyMs`, which grows with the streak. */
  #read(key: string, budget: Budget, now: number): { level: number; streak: number; everyMs: number } {
    const counter = this.#counters.get(key) ?? this.#load(key, budget);
    if (counter === undefined) return { level: 0, streak: 0, everyMs: budget.everyMs };
    // A clock set back must not lengthen the wait: the time counts from now, not from when the clock catches up.
    if (counter.at > now) counter.at = now;
    return drained(counter, now);
  }

  /** What an earlier life has counted. */
  #load(key: string, budget: Budget): Counter | undefined {
    const row = this.#sql.get("SELECT level, streak, at FROM throttle WHERE key = ?", key);
    if (row === undefined) return undefined;
    const counter = { level: Number(row.level), streak: Number(row.streak), at: Number(row.at), budget };
    this.#set(key, counter);
    return counter;
  }

  #set(key: string, counter: Counter): void {
    if (isAddress(key) && !this.#counters.has(key)) this.#addresses++;
    this.#counters.set(key, counter);
  }

  #store(keys: readonly [string, Budget][]): void {
    for (const [key] of keys) {
      const { level, streak, at } = this.#counters.get(key) ?? { level: 0, streak: 0, at: 0 };
      if (level === 0 && streak === 0) this.#sql.run("DELETE FROM throttle WHERE key = ?", key);
      else this.#sql.run("INSERT OR REPLACE INTO throttle VALUES (?, ?, ?, ?)", key, level, streak, at);
    }
  }

  /** What gives tries back must not fail: without its row the next start is only stricter. */
  #unlessFull(body: () => void): void {
    try {
      this.#sql.relaxed(body);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  #keyOfAddress(where: string, now: number): [string, Budget] {
    const key = `address:${where}`;
    if (this.#counters.has(key)) return [key, ADDRESS];
    if (this.#addresses >= ADDRESSES_MAX && now >= this.#tidiedAt + TIDY_MS) this.#tidy(now);
    return this.#addresses < ADDRESSES_MAX ? [key, ADDRESS] : [OTHER_ADDRESSES, GATEWAY];
  }

  /** Drops only what limits nobody any more, so that nobody is forgotten because there are many others. */
  #tidy(now: number): void {
    this.#tidiedAt = now;
    for (const [key, counter] of this.#counters) {
      if (!isSpent(counter, now)) continue;
      this.#counters.delete(key);
      if (isAddress(key)) this.#addresses--;
    }
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

function drained({ level, streak, at, budget }: Counter, now: number): { level: number; streak: number; everyMs: number } {
  const doublings = Math.floor(Math.max(0, streak - budget.burst) / GROWTH_EVERY);
  const everyMs = Math.min(budget.growsToMs, budget.everyMs * 2 ** doublings);
  return { level: Math.max(0, level - Math.max(0, now - at) / everyMs), streak, everyMs };
}

function isSpent(counter: Counter, now: number): boolean {
  if (counter.at < now - PRUNE_MS) return true;
  const grows = counter.budget.growsToMs > counter.budget.everyMs && counter.streak > 0;
  return !grows && drained(counter, now).level === 0;
}

function isAddress(key: string): boolean {
  return key.startsWith(OTHER_ADDRESSES);
}

function steady(burst: number, everyMs: number): Budget {
  return { burst, everyMs, growsToMs: everyMs };
}

function refuse(waitMs: number): never {
  fail(429, `Too many attempts: try again in ${Math.ceil(waitMs / 1000)} s`, { retryAfterMs: waitMs });
}
