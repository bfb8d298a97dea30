// How long it takes to compute when a schedule runs next: for common expressions, for rare ones, and for those that were written to take
// long. Each in a new process, so that its first computation is one after a start. The floor is croner alone.

import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { median } from "../stats.ts";
import type { Times, TimesTask } from "../times.ts";

const GOAL_MS = 5;
const EVERY_MINUTE = Array.from({ length: 60 }, (_, minute) => minute).join(",");

const TASKS: Record<string, TimesTask> = {
  "common, 0 8 * * 1-5": { expr: "0 8 * * 1-5", timezone: "Europe/Berlin", years: 4 },
  "common, */5 * * * *": { expr: "*/5 * * * *", timezone: "America/New_York", years: 4 },
  "common, 30 9 1 * *": { expr: "30 9 1 * *", timezone: "Asia/Kolkata", years: 4 },
  "rare, 29 February": { expr: "0 0 29 2 *", timezone: "Europe/Berlin", years: 100 },
  "rare, 29 February on a Sunday": { expr: "30 4 29 2 */7", timezone: "Australia/Lord_Howe", years: 100 },
  "bomb, 200 characters, 29 February on a Sunday": { expr: `${EVERY_MINUTE} * 29 2 */7`, timezone: "Africa/Casablanca", years: 100 },
  "bomb, an hour that the clock skips each year": { expr: "*/30 2 8-14 3 */7", timezone: "America/New_York", years: 100 },
  "each zone for the first time, 0 8 * * *": "zones",
};

export async function times(stage: Stage): Promise<Finding[]> {
  const rounds: Record<string, Times[]> = Object.fromEntries(Object.keys(TASKS).map((name) => [name, []]));
  for (let round = 0; round < stage.options.rounds; round++)
    for (const [name, task] of Object.entries(TASKS)) rounds[name]!.push(await stage.times(task));
  return Object.entries(rounds).map(([name, all]) => {
    const p50Ms = median(all.map(({ warmMs }) => warmMs));
    const floor = { p50Ms: median(all.map(({ cronerMs }) => cronerMs)) };
    const gateway = { p50Ms, maxMs: median(all.map(({ maxMs }) => maxMs)), coldMs: median(all.map(({ coldMs }) => coldMs)) };
    return { bench: `next run, ${name}`, gateway, floor, ratio: p50Ms / floor.p50Ms, goal: `p50 < ${GOAL_MS} ms`, pass: p50Ms < GOAL_MS };
  });
}
