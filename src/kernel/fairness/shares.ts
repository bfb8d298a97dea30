// Shares the kernel's thread among its users. Work runs immediately while its user has used little of the thread lately; otherwise it
// is queued, and the user who has used least is served first. So a user who asks for much waits for their own work, and others
// hardly notice.

import { delay, yieldToEventLoop } from "../../lib/yield.ts";

/** A uid, or the address of a stranger. */
export type Sharer = number | string;

export type SharesOptions = {
  /** Milliseconds of a monotonic clock. On a host whose clock does not advance during computation, all work costs the same. */
  now(): number;
  /** Lets the host handle pending events. */
  yield?(): Promise<void>;
  /** Waits while others use the thread. */
  pause?(ms: number): Promise<void>;
  /** Receives errors thrown by queued work, which its caller can no longer catch. */
  onError(error: unknown): void;
};

/** How much a sharer may use before their work is queued, and how much of it is regained per elapsed millisecond. */
const BURST_MS = 12;
const REGAINED_PER_MS = 0.33;
/** How long queued work runs before the host handles pending events. */
const SLICE_MS = 5;
/** While others are active, a sharer who has used much waits until it is regained, but at most this long. */
const REST_MS_MAX = 100;
/** Others count as active for this long after they were served. */
const OTHERS_MS = 1_000;
/** The minimum charge for a piece of work. */
const LEAST_MS = 0.02;
const ACCOUNTS_MAX = 10_000;

/** `costMs`: the minimum charge, for work that only starts something and returns quickly. */
type Work = { run: () => void; costMs: number };
type ServedTurn = { account: Account; at: number };
type Account = { usedMs: number; at: number; waiting: Work[] };

export class Shares {
  readonly #options: Required<SharesOptions>;
  readonly #accounts = new Map<Sharer, Account>();
  readonly #waiting = new Set<Account>();
  #isServing = false;
  /** The sharer who is waiting for others to be served, and a function that ends the wait. */
  #resting: Account | null = null;
  #endRest: () => void = () => {};
  /** The last user who was served without waiting, and the last different one before, each with the time. */
  #lastServed: ServedTurn | null = null;
  #previousServed: ServedTurn | null = null;

  constructor(options: SharesOptions) {
    this.#options = { yield: yieldToEventLoop, pause: delay, ...options };
  }

  /** Runs the work now and returns true, unless the sharer has used much lately or has queued work: then runs nothing. */
  tryRun(who: Sharer, run: () => void, costMs = LEAST_MS): boolean {
    const account = this.#accountOf(who);
    if (account.waiting.length > 0 || this.#updateUsedMs(account) >= BURST_MS) return false;
    // Nobody rests for a stranger: each person is one until they have logged in, and would then wait for themselves.
    if (typeof who === "number") this.#recordServed(account);
    this.#runWork(account, { run, costMs });
    return true;
  }

  /** Queues the work behind the sharer's other queued work. */
  queue(who: Sharer, run: () => void, costMs = LEAST_MS): void {
    const account = this.#accountOf(who);
    account.waiting.push({ run, costMs });
    this.#waiting.add(account);
    if (!this.#isServing) void this.#serve();
    // A sharer who has used less does not wait until another one has rested.
    else if (this.#resting !== null && this.#updateUsedMs(account) < this.#updateUsedMs(this.#resting)) this.#endRest();
  }

  /** Runs the work now if possible, and queues it otherwise. */
  runOrQueue(who: Sharer, run: () => void, costMs = LEAST_MS): void {
    if (!this.tryRun(who, run, costMs)) this.queue(who, run, costMs);
  }

  /** Resolves when the sharer is served, and charges `costMs`. */
  waitForTurn(who: Sharer, costMs: number): Promise<void> {
    return new Promise((resolve) => this.runOrQueue(who, resolve, costMs));
  }

  /** Waits up to `ms` while others are active; undefined if none are. */
  yieldToOthers(who: Sharer, ms: number): Promise<void> | undefined {
    const account = this.#accountOf(who);
    return this.#hasOthers(account) ? this.#waitWhileOthersActive(account, ms) : undefined;
  }

  async #waitWhileOthersActive(account: Account, ms: number): Promise<void> {
    for (let left = ms; left > 0 && this.#hasOthers(account); left -= REST_MS_MAX) await this.#options.pause(Math.min(left, REST_MS_MAX));
  }

  /** Charges time that was used for a sharer outside of `tryRun` and `queue`. */
  charge(who: Sharer, ms: number): void {
    const account = this.#accountOf(who);
    account.usedMs = this.#updateUsedMs(account) + ms;
  }

  /** Returns how much the work was charged, including what it charged itself for later work of the host. */
  #runWork(account: Account, { run, costMs }: Work): number {
    const before = this.#updateUsedMs(account);
    const startedAt = this.#options.now();
    try {
      run();
    } finally {
      const usedMs = Math.max(costMs, this.#options.now() - startedAt);
      account.usedMs = this.#updateUsedMs(account) + usedMs;
    }
    return Math.max(costMs, account.usedMs - before);
  }

  #recordServed(account: Account): void {
    if (this.#lastServed !== null && this.#lastServed.account !== account) this.#previousServed = this.#lastServed;
    this.#lastServed = { account, at: this.#options.now() };
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    try {
      while (this.#waiting.size > 0) {
        await this.#options.yield();
        const rested = await this.#waitForNextSharer();
        let usedMs = 0;
        do usedMs += this.#serveNext();
        while (usedMs < SLICE_MS && this.#mayContinue(rested));
      }
    } finally {
      this.#isServing = false;
    }
  }

  /** Resolves with the next sharer, once they have rested or need not. */
  async #waitForNextSharer(): Promise<Account | undefined> {
    for (;;) {
      const first = this.#findLeastUsed();
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

  /** How long a sharer who has used much waits for others. Nobody waits for a sharer who has used more. */
  #restMs(account: Account): number {
    const other = this.#findRecentOther(account);
    if (other === undefined || this.#updateUsedMs(other) >= this.#updateUsedMs(account)) return 0;
    return Math.min(Math.max(0, this.#updateUsedMs(account) - BURST_MS) / REGAINED_PER_MS, REST_MS_MAX);
  }

  /** Whether more queued work may run before the host handles pending events. */
  #mayContinue(rested: Account | undefined): boolean {
    const next = this.#findLeastUsed();
    return next !== undefined && (next === rested || this.#restMs(next) === 0);
  }

  #hasOthers(account: Account): boolean {
    return this.#findRecentOther(account) !== undefined;
  }

  /** Another sharer who was served recently. */
  #findRecentOther(account: Account): Account | undefined {
    const other = this.#lastServed?.account === account ? this.#previousServed : this.#lastServed;
    return other !== null && this.#options.now() - other.at < OTHERS_MS ? other.account : undefined;
  }

  /** The waiting sharer who has used least. */
  #findLeastUsed(): Account | undefined {
    let first: Account | undefined;
    for (const account of this.#waiting)
      if (first === undefined || this.#updateUsedMs(account) < this.#updateUsedMs(first)) first = account;
    return first;
  }

  #serveNext(): number {
    const next = this.#findLeastUsed();
    if (next === undefined) return 0;
    const work = next.waiting.shift()!;
    if (next.waiting.length === 0) this.#waiting.delete(next);
    try {
      return this.#runWork(next, work);
    } catch (error) {
      this.#options.onError(error);
      return 0;
    }
  }

  /** Brings the account up to date and returns its used time. */
  #updateUsedMs(account: Account): number {
    const now = this.#options.now();
    account.usedMs = Math.max(0, account.usedMs - (now - account.at) * REGAINED_PER_MS);
    account.at = now;
    return account.usedMs;
  }

  #accountOf(who: Sharer): Account {
    const known = this.#accounts.get(who);
    if (known !== undefined) return known;
    if (this.#accounts.size >= ACCOUNTS_MAX) this.#forgetIdle();
    const account: Account = { usedMs: 0, at: this.#options.now(), waiting: [] };
    this.#accounts.set(who, account);
    return account;
  }

  #forgetIdle(): void {
    for (const [who, account] of this.#accounts)
      if (account.waiting.length === 0 && this.#updateUsedMs(account) === 0) this.#accounts.delete(who);
  }
}
