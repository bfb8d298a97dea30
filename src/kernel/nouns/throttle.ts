// Rate limits for guessing, wherever a password, token or code can be tried. Owns throttle and known_addresses. An attempt is counted
// before anything is hashed and refunded if it was right, so only failures use up the budget, and a burst of parallel attempts cannot
// get past it.
//
// The counters in memory are authoritative; the rows are a copy for the next start. A failed commit rolls rows back, and a full disk
// must not refund guesses.
//
// People type passwords into name fields, so the key of a counter contains a digest of the name. Only names of successful logins are
// stored in plain text, in known_addresses.
//
// An address from which a user has logged in before has its own budget, so that a stranger's guesses cannot lock the user out.

import { addressKey } from "../../lib/address.ts";
import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import { type Sql, StorageError } from "../../ports/sql.ts";

type RateLimit = { burst: number; everyMs: number; growsToMs: number };

const ACCOUNT: RateLimit = { burst: 5, everyMs: 60_000, growsToMs: 15 * 60_000 };
const ADDRESS: RateLimit = { burst: 20, everyMs: 10_000, growsToMs: 10_000 };
const GATEWAY: RateLimit = { burst: 60, everyMs: 1_000, growsToMs: 1_000 };

/**
 * Budgets for operations that cost something each time: a question to a model before there is an account, and a test request to a
 * provider. `each` is per address or user, `all` for everybody together.
 */
const COSTS = {
  assist: { each: makeFixedRate(20, 30_000), all: makeFixedRate(40, 60_000) },
  check: { each: makeFixedRate(40, 5_000), all: makeFixedRate(80, 2_000) },
} satisfies Record<string, { each: RateLimit; all: RateLimit }>;

/** The wait doubles after this many further failures in a row. */
const GROWTH_EVERY = 3;
const KNOWN_MS = 30 * 24 * 60 * 60 * 1000;
const KNOWN_MAX = 20;
const PRUNE_MS = 60 * 60 * 1000;
/**
 * The most addresses with a counter of their own; beyond that, new ones share one counter. Only addresses need this limit: all other
 * counters are made by attempts that a limit for everybody together already bounds.
 */
const ADDRESSES_MAX = 10_000;
const OTHER_ADDRESSES = "address:";
/** The least time between two searches for counters that can be dropped. */
const DROP_IDLE_MS = 10_000;
/** The part of a typed name that is used; no account has a longer one. */
const NAME_CHARS_MAX = 256;

type Counter = { level: number; streak: number; at: number; budget: RateLimit };

export type Attempt = { keys: [string, RateLimit][]; account: string; address: string };

export class Throttle {
  readonly #sql: Sql;
  readonly #crypto: Pick<Crypto, "sha256">;
  readonly #counters = new Map<string, Counter>();
  #addresses = 0;
  #droppedIdleAt = -Infinity;

  constructor(sql: Sql, crypto: Pick<Crypto, "sha256">) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  /** Counts one attempt, or fails with 429 and the time to wait. */
  countAttempt(username: string, address: string, now: number): Attempt {
    const account = username.slice(0, NAME_CHARS_MAX);
    const network = addressKey(address);
    const digest = toHex(this.#crypto.sha256(account));
    const keys: [string, RateLimit][] = this.#isKnown(account, network, now)
      ? [[`known:${network} ${digest}`, ACCOUNT]]
      : [[`account:${digest}`, ACCOUNT], this.#keyOfAddress(network, now), ["gateway", GATEWAY]];
    this.#count(keys, now);
    return { keys, account, address: network };
  }

  /**
   * Counts a wrong token. Counted after the lookup, because a lookup costs nothing and 256 bits cannot be guessed: a right token must not
   * be refused because of other clients at the same address.
   */
  countWrongToken(address: string, now: number): void {
    this.#count([this.#keyOfAddress(addressKey(address), now)], now);
  }

  /** Counts one operation that costs something, or fails with 429. `who` is an address or a user. */
  countOperation(what: keyof typeof COSTS, who: string, now: number): void {
    const { each, all } = COSTS[what];
    this.#count(
      [
        [`${what}:${addressKey(who)}`, each],
        [`${what}-all`, all],
      ],
      now,
    );
  }

  /** The attempt was right: refunds it and stores its address as known. */
  recordSuccess(attempt: Attempt, now: number): void {
    for (const [key, budget] of attempt.keys) {
      if (/^(?:account|known):/.test(key)) this.#setCounter(key, { level: 0, streak: 0, at: now, budget });
      else this.#refund(key);
    }
    this.#ignoreFullDisk(() => {
      this.#storeCounters(attempt.keys);
      this.#sql.run("INSERT OR REPLACE INTO known_addresses VALUES (?, ?, ?)", attempt.account, attempt.address, now);
      this.#sql.run(
        `DELETE FROM known_addresses WHERE username = ?1 AND address NOT IN
           (SELECT address FROM known_addresses WHERE username = ?1 ORDER BY seen_at DESC LIMIT ?2)`,
        attempt.account,
        KNOWN_MAX,
      );
    });
  }

  /** The attempt ended for a reason that says nothing about the guess: refunds it. */
  cancel(attempt: Attempt): void {
    for (const [key] of attempt.keys) this.#refund(key);
    this.#ignoreFullDisk(() => this.#storeCounters(attempt.keys));
  }

  prune(now: number): void {
    this.#dropIdle(now);
    this.#sql.run("DELETE FROM throttle WHERE at < ?", now - PRUNE_MS);
    this.#sql.run("DELETE FROM known_addresses WHERE seen_at < ?", now - KNOWN_MS);
  }

  nextPruneAt(): number | null {
    const counterAt = this.#sql.get("SELECT min(at) AS at FROM throttle")?.at;
    const seenAt = this.#sql.get("SELECT min(seen_at) AS at FROM known_addresses")?.at;
    const due = Math.min(
      counterAt == null ? Infinity : Number(counterAt) + PRUNE_MS,
      seenAt == null ? Infinity : Number(seenAt) + KNOWN_MS,
    );
    return due === Infinity ? null : due;
  }

  #waitMs(key: string, budget: RateLimit, now: number): number {
    const { level, everyMs } = this.#readLevel(key, budget, now);
    return level <= budget.burst - 1 ? 0 : Math.ceil((level - (budget.burst - 1)) * everyMs);
  }

  /** Counts all keys or, with 429, none. If the disk is full, the attempt fails but is still counted. */
  #count(keys: readonly [string, RateLimit][], now: number): void {
    const waitMs = Math.max(...keys.map(([key, budget]) => this.#waitMs(key, budget, now)));
    if (waitMs > 0) refuse(waitMs);
    for (const [key, budget] of keys) {
      const { level, streak } = this.#readLevel(key, budget, now);
      this.#setCounter(key, { level: level + 1, streak: streak + 1, at: now, budget });
    }
    this.#sql.runRelaxed(() => this.#storeCounters(keys));
  }

  #refund(key: string): void {
    const counter = this.#counters.get(key);
    if (counter === undefined) return;
    counter.level = Math.max(0, counter.level - 1);
    counter.streak = Math.max(0, counter.streak - 1);
  }

  /** The present level: it drains by one attempt every `everyMs`, which grows with the streak. */
  #readLevel(key: string, budget: RateLimit, now: number): { level: number; streak: number; everyMs: number } {
    const counter = this.#counters.get(key) ?? this.#loadCounter(key, budget);
    if (counter === undefined) return { level: 0, streak: 0, everyMs: budget.everyMs };
    // A clock that was set back must not lengthen the wait: time counts from now, not from when the clock catches up.
    if (counter.at > now) counter.at = now;
    return computeDrained(counter, now);
  }

  /** Loads a counter from before the restart. */
  #loadCounter(key: string, budget: RateLimit): Counter | undefined {
    const row = this.#sql.get("SELECT level, streak, at FROM throttle WHERE key = ?", key);
    if (row === undefined) return undefined;
    const counter = { level: Number(row.level), streak: Number(row.streak), at: Number(row.at), budget };
    this.#setCounter(key, counter);
    return counter;
  }

  #setCounter(key: string, counter: Counter): void {
    if (isAddressKey(key) && !this.#counters.has(key)) this.#addresses++;
    this.#counters.set(key, counter);
  }

  #storeCounters(keys: readonly [string, RateLimit][]): void {
    for (const [key] of keys) {
      const { level, streak, at } = this.#counters.get(key) ?? { level: 0, streak: 0, at: 0 };
      if (level === 0 && streak === 0) this.#sql.run("DELETE FROM throttle WHERE key = ?", key);
      else this.#sql.run("INSERT OR REPLACE INTO throttle VALUES (?, ?, ?, ?)", key, level, streak, at);
    }
  }

  /** A refund must not fail because the disk is full: without its row, the next start is only stricter. */
  #ignoreFullDisk(body: () => void): void {
    try {
      this.#sql.runRelaxed(body);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  #keyOfAddress(network: string, now: number): [string, RateLimit] {
    const key = `address:${network}`;
    if (this.#counters.has(key)) return [key, ADDRESS];
    if (this.#addresses >= ADDRESSES_MAX && now >= this.#droppedIdleAt + DROP_IDLE_MS) this.#dropIdle(now);
    return this.#addresses < ADDRESSES_MAX ? [key, ADDRESS] : [OTHER_ADDRESSES, GATEWAY];
  }

  /** Drops only counters that no longer limit anybody, so that no guesser is forgotten because there are many others. */
  #dropIdle(now: number): void {
    this.#droppedIdleAt = now;
    for (const [key, counter] of this.#counters) {
      if (!isIdle(counter, now)) continue;
      this.#counters.delete(key);
      if (isAddressKey(key)) this.#addresses--;
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

function computeDrained({ level, streak, at, budget }: Counter, now: number): { level: number; streak: number; everyMs: number } {
  const doublings = Math.floor(Math.max(0, streak - budget.burst) / GROWTH_EVERY);
  const everyMs = Math.min(budget.growsToMs, budget.everyMs * 2 ** doublings);
  return { level: Math.max(0, level - Math.max(0, now - at) / everyMs), streak, everyMs };
}

function isIdle(counter: Counter, now: number): boolean {
  if (counter.at < now - PRUNE_MS) return true;
  const grows = counter.budget.growsToMs > counter.budget.everyMs && counter.streak > 0;
  return !grows && computeDrained(counter, now).level === 0;
}

function isAddressKey(key: string): boolean {
  return key.startsWith(OTHER_ADDRESSES);
}

function makeFixedRate(burst: number, everyMs: number): RateLimit {
  return { burst, everyMs, growsToMs: everyMs };
}

function refuse(waitMs: number): never {
  fail(429, `Too many attempts: try again in ${Math.ceil(waitMs / 1000)} s`, { retryAfterMs: waitMs });
}
