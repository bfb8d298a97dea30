// The campaign put to the test: gateways that are broken on purpose must be caught, or a passing campaign proves nothing.
// One says of messages that they are kept before they are; one forgets that a call was sent before, and sends it again.

import { join } from "node:path";
import { Bar } from "../bar.ts";
import type { Faults } from "../crash/gateway.ts";
import type { Random } from "../crash/random.ts";
import { Campaign, type Death } from "./campaign.ts";
import { World } from "./world.ts";

/** Where it dies decides whether it shows. */
const TRIES = 6;

export async function catchBroken(bar: Bar, bundle: string, scratch: string, random: Random): Promise<void> {
  const early = () => ({ at: "before commit", times: random.int(8, 40) }) as const;
  bar.check(
    "early acknowledgement caught",
    await isCaught(bundle, join(scratch, "early"), random, { ackEarly: true }, early),
    () => "it was not",
  );
  const done = () => ({ at: "run-tool-done", times: random.int(1, 2) }) as const;
  bar.check(
    "doubled effect caught",
    await isCaught(bundle, join(scratch, "twice"), random, { effectTwice: true }, done),
    () => "it was not",
  );
}

async function isCaught(bundle: string, folder: string, random: Random, faults: Faults, death: () => Death): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const silent = new Bar("broken");
    const world = await World.make(bundle, `${folder}-${tries}`, random.fork(3, tries));
    const campaign = new Campaign(silent, world, random.fork(4, tries));
    await campaign.live(death(), faults);
    // The next life shows what is missing; what is doubled, it doubles itself.
    await campaign.end(faults);
    await world.close();
    if (silent.isWrong) return true;
  }
  return false;
}
