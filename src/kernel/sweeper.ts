// Removes what has outlived its use: an hour after something was done, and after that once a day at most, as long as there is
// something that will have outlived its use by then. So a gateway that nobody uses is not woken for it. What goes when is for
// the nouns to say.

import type { GatewayTarget } from "./files/gateway-target.ts";
import { earliest, type Part } from "./part.ts";
import type { Repos } from "./repos/repos.ts";
import type { Store } from "./store.ts";

/** `prune` is false where there is more of it, for which others wait no longer. */
type Prunable = { prune(now: number): boolean | void; nextPruneAt(): number | null };

const KIND = "sweep";
const SOON_MS = 60 * 60 * 1000;
const LATER_MS = 24 * SOON_MS;
/** Until the next step of a sweep that is not done: others have their turn in between. */
const STEP_MS = 100;

export class Sweeper implements Part {
  readonly #store: Store;
  readonly #gatewayTarget: GatewayTarget;
  readonly #repos: Repos;
  /** Until then one is due soon enough, whatever is done. */
  #soonUntil = 0;

  constructor(store: Store, gatewayTarget: GatewayTarget, repos: Repos) {
    this.#store = store;
    this.#gatewayTarget = gatewayTarget;
    this.#repos = repos;
  }

  /** A start for the sweep itself finds it due, and so is no reason for the next one. */
  begin(): void {
    const { timers } = this.#store.nouns;
    if (timers.dueAt(KIND, "") === null) this.#store.write(({ now }) => timers.arm(KIND, "", now + SOON_MS));
  }

  /** Something is done, so there may be something to sweep soon. */
  touch(): void {
    const { now } = this.#store.reads;
    if (now < this.#soonUntil) return;
    const dueAt = (this.#soonUntil = now + SOON_MS);
    const { timers } = this.#store.nouns;
    if ((timers.dueAt(KIND, "") ?? Infinity) <= dueAt) return;
    this.#store.attempt(() => this.#store.relaxed(() => timers.arm(KIND, "", dueAt)));
    this.#store.wakeBy(dueAt);
  }

  woke(now: number): void {
    const { timers } = this.#store.nouns;
    if ((timers.nextDueAt() ?? Infinity) > now) return;
    this.#store.write(({ after }) => {
      for (const { kind } of timers.take(now)) if (kind === KIND && this.#prune(now)) after(() => this.#sweepElsewhere(now));
    });
  }

  nextDueAt(): number | null {
    return this.#store.nouns.timers.nextDueAt();
  }

  /** Inside the transaction in which its timer was taken. False where another step is needed. */
  #prune(now: number): boolean {
    const { results, throttle, tokens, shellSessions, approvals, followers, spending, cancellations, timers } = this.#store.nouns;
    // There may be so many results that they take several steps.
    if (!results.prune(now)) {
      timers.arm(KIND, "", now + STEP_MS);
      return false;
    }
    const others: Prunable[] = [throttle, tokens, shellSessions, approvals, followers, spending, cancellations];
    for (const noun of others) noun.prune(now);
    this.#soonUntil = 0;
    const nextAt = this.#nextAt([results, ...others], now);
    if (nextAt !== null) timers.arm(KIND, "", nextAt);
    return true;
  }

  #nextAt(nouns: readonly Prunable[], now: number): number | null {
    // How long ago a connected token came in says nothing of its use.
    const hasTokens = this.#store.nouns.connections.tokenIds().length > 0;
    const due = earliest([...nouns.map((noun) => noun.nextPruneAt()), hasTokens ? now : null]);
    return due === null ? null : Math.max(now + LATER_MS, due);
  }

  #sweepElsewhere(now: number): void {
    const { nouns, ports } = this.#store;
    // A token that is connected is in use, however long ago it came in.
    this.#store.attempt(() => this.#store.relaxed(({ tokens }) => tokens.used(nouns.connections.tokenIds(), now)));
    void Promise.all([this.#gatewayTarget.sweep(), this.#repos.measure()]).catch((error: unknown) =>
      ports.log.error("sweep failed", { error: String(error) }),
    );
  }
}
