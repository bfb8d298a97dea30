// Tests the harness itself: a gateway that answers before it commits must be caught, or a passing campaign proves nothing.

import { join } from "node:path";
import { live, type Campaign, newTally } from "./campaign.ts";
import { Oracle } from "./oracle.ts";
import { copyOf, type Setup, worldOf } from "./world.ts";

export type Caught = { cycles: number; caught: number; first: number | null; tries: number };

const QUIET_MS = 5;
/**
 * Retries per cycle: the commit at which it dies may hold only rows of files, which even this gateway acknowledges once they are
 * on disk.
 */
const TRIES = 8;

/**
 * Each cycle has its own world: the broken gateway is killed under load, and a healthy one shows what is left. With `atPoint` it
 * dies right before a commit, where the broken one has answered already.
 */
export async function catchBroken(
  run: Campaign,
  setup: Setup,
  template: string,
  scratch: string,
  { cycles, atPoint, stopAtFirst }: { cycles: number; atPoint: boolean; stopAtFirst: boolean },
): Promise<Caught> {
  const result: Caught = { cycles: 0, caught: 0, first: null, tries: 0 };
  for (let cycle = 1, left = TRIES; cycle <= cycles;) {
    result.cycles = cycle;
    result.tries++;
    const name = `broken-${atPoint ? "point" : "kill"}-${result.tries}`;
    const oracle = new Oracle(join(scratch, `${name}.log`));
    const world = worldOf(setup, copyOf(template, join(scratch, name)), oracle);
    const random = run.random.fork(1_000 + result.tries);
    const tally = { ...newTally(), cycle: result.cycles };
    const crashAt = { crashAt: `before-commit:${random.int(20, 60)}` };
    const faults = { ackEarly: true, ...(atPoint ? crashAt : {}) };
    // On a busy machine batches are large and commits few; a kill before the crash point would show nothing.
    const killAfterMs = atPoint ? 90_000 : random.int(5, 600);
    await live({ ...run, oracle, random }, world, { faults, killAfterMs, dies: "broken", isQuiet: false }, tally);
    const before = oracle.violations.length;
    await live({ ...run, oracle, random }, world, { faults: {}, killAfterMs: QUIET_MS, dies: "healthy", isQuiet: false }, tally);
    await oracle.close();
    // A violation that only the second check finds was acknowledged and lost.
    const isCaught = before === 0 && oracle.count("lost") + oracle.count("revived") > 0;
    if (!isCaught && atPoint && --left > 0) continue;
    left = TRIES;
    if (isCaught) {
      result.caught++;
      result.first ??= cycle;
      if (stopAtFirst) break;
    }
    cycle++;
  }
  return result;
}
