// Removes expired rows and content: an hour after the gateway was used, then at most once a day while something is left that will
// expire. So an idle gateway is not woken for it. The nouns decide what expires when.

import type { GatewayTarget } from "./files/gateway-target.ts";
import { EndedSchedules } from "./schedules/ended-schedules.ts";
import { earliestOf, type Part } from "./part.ts";
import type { Repos } from "./repos/repos.ts";
import type { Store } from "./store.ts";

/** `prune` returns false if it stopped early, so that others need not wait, and there is more to remove. */
type Prunable = { prune(now: number): boolean | void; nextPruneAt(): number | null };

const KIND = "sweep";
const SOON_MS = 60 * 60 * 1000;
const LATER_MS = 24 * SOON_MS;
/** Delay before the next step of an unfinished sweep, so that other work runs in between. */
const STEP_MS = 100;

export class Sweeper implements Part {
  readonly #store: Store;
  readonly #gatewayTarget: GatewayTarget;
  readonly #repos: Repos;
  /** Until this time a sweep is already due soon enough, so `scheduleSweep` has nothing to do. */
  #soonUntil = 0;

  constructor(store: Store, gatewayTarget: GatewayTarget, repos: Repos) {
    this.#store = store;
    this.#gatewayTarget = gatewayTarget;
    this.#repos = repos;
  }

  /** If the kernel was started only for a sweep, the timer is already armed, so that start does not cause another sweep. */
  begin(): void {
    const { timers } = this.#store.nouns;
    if (timers.dueAt(KIND, "") === null) this.#store.write(({ now }) => timers.arm(KIND, "", now + SOON_MS));
  }

  /** The gateway is in use, so there may be something to sweep soon. */
  scheduleSweep(): void {
    const { now } = this.#store.reads;
    if (now < this.#soonUntil) return;
    const dueAt = (this.#soonUntil = now + SOON_MS);
    const { timers } = this.#store.nouns;
    if ((timers.dueAt(KIND, "") ?? Infinity) <= dueAt) return;
    this.#store.attempt(() => this.#store.relaxed(() => timers.arm(KIND, "", dueAt)));
    this.#store.wakeBy(dueAt);
  }

  onWake(now: number): void {
    const { timers } = this.#store.nouns;
    if ((timers.nextDueAt(KIND) ?? Infinity) > now) return;
    this.#store.write(({ after }) => {
      for (const _ of timers.takeDue(KIND, now)) if (this.#prune(now)) after(() => this.#sweepContents(now));
    });
  }

  nextDueAt(): number | null {
    return this.#store.nouns.timers.nextDueAt(KIND);
  }

  /** Runs in the transaction that took the timer. Returns false if another step is needed. */
  #prune(now: number): boolean {
    const { results, throttle, tokens, shellSessions, approvals, followers, spending, cancellations, oauthFlows, timers } =
      this.#store.nouns;
    const { schedules, scheduleRuns, notifications, signalWatches, signInCodes } = this.#store.nouns;
    const numerous = [results, new EndedSchedules(schedules, scheduleRuns), scheduleRuns, notifications, signalWatches];
    // There may be so many of these that removing them takes several steps.
    if (!numerous.every((noun) => noun.prune(now))) {
      timers.arm(KIND, "", now + STEP_MS);
      return false;
    }
    const others: Prunable[] = [throttle, tokens, shellSessions, approvals, followers, spending, cancellations, oauthFlows, signInCodes];
    for (const noun of others) noun.prune(now);
    this.#soonUntil = 0;
    const nextAt = this.#nextSweepAt([...numerous, ...others], now);
    if (nextAt !== null) timers.arm(KIND, "", nextAt);
    return true;
  }

  #nextSweepAt(nouns: readonly Prunable[], now: number): number | null {
    // A connected token is in use, however long ago it logged in, so its last-used time must be refreshed.
    const hasTokens = this.#store.nouns.connections.tokenIds().length > 0;
    const due = earliestOf([...nouns.map((noun) => noun.nextPruneAt()), hasTokens ? now : null]);
    return due === null ? null : Math.max(now + LATER_MS, due);
  }

  #sweepContents(now: number): void {
    const { nouns, ports } = this.#store;
    // A connected token is in use, however long ago it logged in.
    this.#store.attempt(() => this.#store.relaxed(({ tokens }) => tokens.recordUse(nouns.connections.tokenIds(), now)));
    void Promise.all([this.#gatewayTarget.sweep(), this.#repos.measure()]).catch((error: unknown) =>
      ports.log.error("sweep failed", { error: String(error) }),
    );
  }
}
