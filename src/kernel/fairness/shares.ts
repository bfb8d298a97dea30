// Shares the kernel's thread between those who use it. What somebody asks for is done at once as long as they have used little of
// the thread lately; beyond that it waits, and of those who wait, whoever has used least goes first. So one who asks for much
// waits for themselves, and the others hardly notice.

import { pause, yieldToEventLoop } from "../../lib/yield.ts";

/** A user, or the address of somebody who has not said who they are. */
export type Sharer = number | string;

export type SharesOptions = {
  /** Milliseconds, by a clock that never jumps. On a host whose clock stands still while it computes, all work is equal. */
  now(): number;
  /** Lets the host look at what has come meanwhile. */
  yield?(): Promise<void>;
  /** Leaves it to others for so long. */
  pause?(ms: number): Promise<void>;
  /** Told what escaped from work that had to wait: whoever asked for it is not there to catch it. */
  failed(error: unknown): void;
};

/** What somebody may use at once, and how much of each millisecond that passes is theirs again. */
const BURST_MS = 12;
const REGAINED = 0.33;
/** How long those who wait are served before the host looks at what else has come. */
const SLICE_MS = 5;
/** While others ask for something now and then, whoever has used much waits until that is regained, though not longer than this. */
const REST_MS_MAX = 100;
const OTHERS_MS = 1_000;
/** The least that a piece of work counts for. */
const LEAST_MS = 0.02;
const ACCOUNTS_MAX = 10_000;

/** `costMs`: what it counts for where it takes less itself, because it only begins something. */
type Work = { run: () => void; costMs: number };
type Served = { account: Account; at: number };
type Account = { usedMs: number; at: number; waiting: Work[] };

export class Shares {
  readonly #options: Required<SharesOptions>;
  readonly #accounts = new Map<Sharer, Account>();
  readonly #waiting = new Set<Account>();
  #isServing = false;
  /** Who leaves it to others just now, and what ends that. */
  #resting: Account | null = null;
  #endRest: () => void = () => {};
  /** Who was last served without having to wait, and who before them, each with when. */
  #last: Served | null = null;
  #before: Served | null = null;

  constructor(options: SharesOptions) {
    this.#options = { yield: yieldToEventLoop, pause, ...options };
  }

  /** Does it now, unless they have used much lately or something of theirs waits: false then, and nothing was done. */
  attempt(who: Sharer, run: () => void, costMs = LEAST_MS): boolean {
    const account = this.#account(who);
    if (account.waiting.length > 0 || this.#usedMs(account) >= BURST_MS) return false;
    if (this.#last !== null && this.#last.account !== account) this.#before = this.#last;
    this.#last = { account, at: this.#options.now() };
    this.#do(account, { run, costMs });
    return true;
  }

  /** Does it in their turn, behind what waits already. */
  queue(who: Sharer, run: () => void, costMs = LEAST_MS): void {
    const account = this.#account(who);
    account.waiting.push({ run, costMs });
    this.#waiting.add(account);
    if (!this.#isServing) void this.#serve();
    // Who has used less does not wait until another has rested.
    else if (this.#resting !== null && this.#usedMs(account) < this.#usedMs(this.#resting)) this.#endRest();
  }

  /** Now if that may be, and otherwise in their turn. */
  take(who: Sharer, run: () => void, costMs = LEAST_MS): void {
    if (!this.attempt(who, run, costMs)) this.queue(who, run, costMs);
  }

  /** Resolves in their turn; what is done then counts for so much. */
  wait(who: Sharer, costMs: number): Promise<void> {
    return new Promise((resolve) => this.take(who, resolve, costMs));
  }

  /** Leaves it to others for so long, as far as there are others; undefined where there are none. */
  giveWay(who: Sharer, ms: number): Promise<void> | undefined {
    const account = this.#account(who);
    return this.#hasOthers(account) ? this.#giveWay(account, ms) : undefined;
  }

  async #giveWay(account: Account, ms: number): Promise<void> {
    for (let left = ms; left > 0 && this.#hasOthers(account); left -= REST_MS_MAX) await this.#options.pause(Math.min(left, REST_MS_MAX));
  }

  /** Time used on somebody's behalf outside of their shares. */
  charge(who: Sharer, ms: number): void {
    const account = this.#account(who);
    account.usedMs = this.#usedMs(account) + ms;
  }

  /** How much it counted for, with what it charged for what the host does later on. */
  #do(account: Account, { run, costMs }: Work): number {
    const before = this.#usedMs(account);
    const startedAt = this.#options.now();
    try {
      run();
    } finally {
      const usedMs = Math.max(costMs, this.#options.now() - startedAt);
      account.usedMs = this.#usedMs(account) + usedMs;
    }
    return Math.max(costMs, account.usedMs - before);
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    try {
      while (this.#waiting.size > 0) {
        await this.#options.yield();
        const rested = await this.#restForOthers();
        let usedMs = 0;
        do usedMs += this.#next();
        while (usedMs < SLICE_MS && this.#mayGo(rested));
      }
    } finally {
      this.#isServing = false;
    }
  }

  /** Whoever is next has rested then, or need not. */
  async #restForOthers(): Promise<Account | undefined> {
    for (;;) {
      const first = this.#first();
      const ms = first === undefined ? 0 : this.#restMs(first);
      if (first === undefined || ms === 0) return first;
      this.#resting = first;
      let isEnded = false;
      const ended = new Promise<void>((resolve) => {
        this.#endRest = () => {
          isEnded = true;
          resolve();
        };
      });
      await Promise.race([this.#options.pause(ms), ended]);
      this.#resting = null;
      if (!isEnded) return first;
    }
  }

  /** How long one who has used much leaves it to others. Nobody does so for one who has used more than they have. */
  #restMs(account: Account): number {
    const other = this.#other(account);
    if (other === undefined || this.#usedMs(other) >= this.#usedMs(account)) return 0;
    return Math.min(Math.max(0, this.#usedMs(account) - BURST_MS) / REGAINED, REST_MS_MAX);
  }

  /** Whether more is done before the host looks at what else has come. */
  #mayGo(rested: Account | undefined): boolean {
    const next = this.#first();
    return next !== undefined && (next === rested || this.#restMs(next) === 0);
  }

  #hasOthers(account: Account): boolean {
    return this.#other(account) !== undefined;
  }

  /** Somebody else who asked for something lately. */
  #other(account: Account): Account | undefined {
    const other = this.#last?.account === account ? this.#before : this.#last;
    return other !== null && this.#options.now() - other.at < OTHERS_MS ? other.account : undefined;
  }

  /** Of those who wait, who has used least. */
  #first(): Account | undefined {
    let first: Account | undefined;
    for (const account of this.#waiting) if (first === undefined || this.#usedMs(account) < this.#usedMs(first)) first = account;
    return first;
  }

  #next(): number {
    const next = this.#first();
    if (next === undefined) return 0;
    const work = next.waiting.shift()!;
    if (next.waiting.length === 0) this.#waiting.delete(next);
    try {
      return this.#do(next, work);
    } catch (error) {
      this.#options.failed(error);
      return 0;
    }
  }

  /** Brings it up to now. */
  #usedMs(account: Account): number {
    const now = this.#options.now();
    account.usedMs = Math.max(0, account.usedMs - (now - account.at) * REGAINED);
    account.at = now;
    return account.usedMs;
  }

  #account(who: Sharer): Account {
    const known = this.#accounts.get(who);
    if (known !== undefined) return known;
    if (this.#accounts.size >= ACCOUNTS_MAX) this.#forgetIdle();
    const account: Account = { usedMs: 0, at: this.#options.now(), waiting: [] };
    this.#accounts.set(who, account);
    return account;
  }

  #forgetIdle(): void {
    for (const [who, account] of this.#accounts)
      if (account.waiting.length === 0 && this.#usedMs(account) === 0) this.#accounts.delete(who);
  }
}
