// A few simulated worlds on every run: the promises hold, the same seed gives the same world, and the judge catches a broken
// gateway. `npm run trust:sim -- --seeds 1000` runs many more.

import { describe, expect, it } from "vitest";
import { type Outcome, simulate } from "./simulate.ts";

const STEPS = 1_000;

describe("the simulator", () => {
  it.each(["1", "2", "3", "5", "8", "13"])("keeps every promise with seed %s", async (seed) => {
    const outcome = await simulate(seed, STEPS);
    expect(outcome.violations, report(outcome)).toEqual([]);
    expect(outcome.counts.ok).toBeGreaterThan(20);
  });

  it("gives the same trace for the same seed and a different one for another", async () => {
    const [first, again, other] = [await simulate("same", 400), await simulate("same", 400), await simulate("other", 400)];
    expect(again.hash).toBe(first.hash);
    expect(other.hash).not.toBe(first.hash);
  });

  it("catches a gateway that answers before it has committed", async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const { violations } = await simulate(`early ${seed}`, STEPS, { acknowledgesEarly: true });
      if (violations.some((violation) => violation.includes("was promised to be"))) return;
    }
    throw new Error("50 worlds of a broken gateway, and nobody noticed");
  });
});

function report({ seed, tail }: Outcome): string {
  return `seed ${seed}; the last that happened:\n${tail.slice(-30).join("\n")}`;
}
