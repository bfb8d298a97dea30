// Computes when schedules run, as the kernel does it, in a process of its own: so the first computation finds nothing prepared. Beside
// it croner alone, with its own time zones. The task is the first argument; what it prints is the result.

import { Cron } from "croner";
import { nextRun } from "../src/schedules/next-run.ts";
import { median } from "./stats.ts";

/** One expression, or the first computation in every zone. */
export type TimesTask = { expr: string; timezone: string; years: number } | "zones";
/** The first computation, and the middle and longest of many others, of each of which the best of some tries counts. */
export type Times = { coldMs: number; warmMs: number; maxMs: number; cronerMs: number };

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const COUNT = 1_000;
/** Another program may have the processor meanwhile. */
const TRIES = 3;
const CRONER_MS = 1_000;
const DAILY = "0 8 * * *";

if (import.meta.main) {
  const task = JSON.parse(process.argv[2]!) as TimesTask;
  console.log(JSON.stringify(task === "zones" ? computeInAllZones() : computeOften(task)));
}

function computeOften({ expr, timezone, years }: Exclude<TimesTask, "zones">): Times {
  const now = Date.now();
  const expression = { kind: "cron" as const, expr, timezone };
  const compute = (at: number) => nextRun(expression, at, now);
  const coldMs = timeMs(() => compute(now));
  // Spread evenly, in an order without a pattern: 619 and the count have no common divisor.
  const instants = Array.from({ length: COUNT }, (_, at) => now + (((at * 619) % COUNT) / COUNT) * years * YEAR_MS);
  for (const at of instants) compute(at);
  const warm = instants.map((at) => Math.min(...Array.from({ length: TRIES }, () => timeMs(() => compute(at)))));
  return { coldMs, warmMs: median(warm), maxMs: Math.max(...warm), cronerMs: timeCroner({ expr, timezone, instants }) };
}

/** It searches for centuries for what never comes, so it is asked for a second at most. */
function timeCroner({ expr, timezone, instants }: { expr: string; timezone: string; instants: readonly number[] }): number {
  const cron = new Cron(expr, { timezone, mode: "5-part", domAndDow: true });
  const samples: number[] = [];
  const until = performance.now() + CRONER_MS;
  for (let at = 0; at < 2 * COUNT && performance.now() < until; at++) {
    const after = new Date(instants[at % COUNT]!);
    samples.push(timeMs(() => cron.nextRun(after)));
  }
  return median(samples.slice(Math.floor(samples.length / 2)));
}

/** `warmMs` is the middle zone and `maxMs` the slowest, each asked for the first time; `coldMs` is the very first. */
function computeInAllZones(): Times {
  const now = Date.now();
  const zones = Intl.supportedValuesOf("timeZone");
  const [coldMs, ...others] = zones.map((timezone) => timeMs(() => nextRun({ kind: "cron", expr: DAILY, timezone }, now, now)));
  const croner = zones.map((timezone) => timeMs(() => new Cron(DAILY, { timezone, mode: "5-part" }).nextRun(new Date(now))));
  return { coldMs: coldMs!, warmMs: median(others), maxMs: Math.max(...others), cronerMs: median(croner) };
}

function timeMs(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
