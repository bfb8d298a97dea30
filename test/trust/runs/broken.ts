// Tests the campaign itself: deliberately broken gateways must be caught, or a passing campaign proves nothing. One acknowledges
// messages before they are stored; one forgets that a call was sent before, and sends it again.

import { join } from "node:path";
import { Bar } from "../bar.ts";
import type { Faults } from "../crash/gateway.ts";
import type { Random } from "../crash/random.ts";
import { Campaign, type Death } from "./campaign.ts";
import { ALL_KINDS, type Kind } from "./jobs.ts";
import { World } from "./world.ts";

/** Whether the fault shows depends on where it dies. */
const TRIES = 20;
/** The first messages are accepted at commits of about this number; later ones are mixed with everything else. */
const FIRST_MESSAGES = { from: 7, to: 14 };
const ALL_COMMITS_TO = 40;

export async function catchBroken(bar: Bar, bundle: string, scratch: string, random: Random): Promise<void> {
  const early: Broken = {
    faults: { ackEarly: true },
    death: (tries) => ({
      at: "before commit",
      times: random.int(FIRST_MESSAGES.from, tries < TRIES / 2 ? FIRST_MESSAGES.to : ALL_COMMITS_TO),
    }),
    kinds: ALL_KINDS,
  };
  const twice: Broken = { faults: { effectTwice: true }, death: () => ({ at: "run-tool-done", times: 1 }), kinds: ["gsv"] };
  for (const [name, broken] of Object.entries({ early, twice })) {
    const isCaught = await isFaultCaught(bundle, join(scratch, name), random, broken);
    bar.check(`broken (${name}) caught`, isCaught, () => "it passes");
  }
}

type Broken = { faults: Faults; death: (tries: number) => Death; kinds: readonly Kind[] };

async function isFaultCaught(bundle: string, folder: string, random: Random, { faults, death, kinds }: Broken): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const silent = new Bar("broken");
    const world = await World.make(bundle, `${folder}-${tries}`, random.fork(3, tries));
    const campaign = new Campaign(silent, world, random.fork(4, tries), kinds);
    await campaign.live(death(tries), faults);
    // After a restart lost messages are missing, and doubled effects happen again.
    await campaign.end(faults);
    await world.close();
    if (silent.isWrong) return true;
  }
  return false;
}
