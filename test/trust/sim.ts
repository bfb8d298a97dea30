// Bar B10, trust:sim: runs the kernel in simulated worlds, one per seed.
//   test/trust/sim.ts [--seeds N] [--seed S] [--steps K]
// Prints one JSON line with the outcome; for a failure also the seed, the violations and the last lines of the trace before them.
// `--seed` runs that world alone.

import { parseArgs } from "node:util";
import { type Outcome, simulate } from "../sim/simulate.ts";
import { commit } from "./bar.ts";

const SEEDS = 40;
const STEPS = 1_500;
const FAILURES_SHOWN = 3;

const { values } = parseArgs({ options: { seeds: { type: "string" }, seed: { type: "string" }, steps: { type: "string" } } });
const steps = positive("--steps", values.steps ?? String(STEPS));
const seeds =
  values.seed === undefined
    ? Array.from({ length: positive("--seeds", values.seeds ?? String(SEEDS)) }, (_, i) => String(i + 1))
    : [values.seed];

const numbers: Record<string, number> = { seeds: 0, steps: 0, virtualMinutes: 0, failed: 0, notDeterministic: 0 };
const happened: Record<string, number> = {};
const failed: Outcome[] = [];
const started = Date.now();
for (const seed of seeds) {
  const outcome = await simulate(seed, steps);
  numbers.seeds!++;
  numbers.steps! += outcome.steps;
  numbers.virtualMinutes! += outcome.virtualMs / 60_000;
  for (const [what, count] of Object.entries(outcome.counts)) happened[what] = (happened[what] ?? 0) + count;
  if (outcome.violations.length > 0) failed.push(outcome);
}
const [first] = seeds;
if ((await simulate(first!, steps)).hash !== (await simulate(first!, steps)).hash) numbers.notDeterministic = 1;

for (const { seed, violations, tail } of failed.slice(0, FAILURES_SHOWN)) {
  console.error(`seed ${seed}:\n  ${violations.join("\n  ")}\nthe last that happened:\n  ${tail.join("\n  ")}\n`);
}
if (failed.length > FAILURES_SHOWN)
  console.error(
    `failed as well: ${failed
      .slice(FAILURES_SHOWN)
      .map((outcome) => outcome.seed)
      .join(" ")}`,
  );
numbers.failed = failed.length;
numbers.virtualMinutes = Math.round(numbers.virtualMinutes!);
const pass = failed.length === 0 && numbers.notDeterministic === 0;
const seconds = Math.round((Date.now() - started) / 100) / 10;
console.log(
  JSON.stringify({
    bar: "B10 trust:sim",
    pass,
    numbers: { ...numbers, seconds, happened },
    seed: failed[0]?.seed ?? seeds.join(" ").slice(0, 40),
    commit: commit(),
  }),
);
process.exitCode = pass ? 0 : 1;

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`${flag} must be a positive whole number`);
  process.exit(2);
}
