// Removes schedules of one run a month after they have ended, with their history.

import type { ScheduleRuns } from "../nouns/schedule-runs.ts";
import type { Schedules } from "../nouns/schedules.ts";

const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const BATCH = 500;

export class EndedSchedules {
  readonly #schedules: Schedules;
  readonly #runs: ScheduleRuns;

  constructor(schedules: Schedules, runs: ScheduleRuns) {
    this.#schedules = schedules;
    this.#runs = runs;
  }

  /** Returns false if there are more. */
  prune(now: number): boolean {
    const ids = this.#schedules.removeEnded(now - KEEP_MS, BATCH);
    for (const id of ids) this.#runs.removeSchedule(id);
    return ids.length < BATCH;
  }

  nextPruneAt(): number | null {
    const first = this.#schedules.firstEndedAt();
    return first === null ? null : first + KEEP_MS;
  }
}
