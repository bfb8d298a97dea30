// trust:runs. Agents work on a real gateway that is killed at every named step of a run and at random moments; a provider, a
// device and a person outside it know what was requested, approved and done. `--kills N` for more, `--rounds N` to try each step
// more than once, `--seed S`. At the end two deliberately broken gateways must be caught.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunCrashPoint } from "../../src/hosts/node/faults.ts";
import { Bar, numberFlag } from "./bar.ts";
import { killAll } from "./crash/gateway.ts";
import { Random } from "./crash/random.ts";
import { catchBroken } from "./runs/broken.ts";
import { Campaign, POINTS } from "./runs/campaign.ts";
import { World } from "./runs/world.ts";

const KILLS = numberFlag("kills", 2);
const ROUNDS = numberFlag("rounds", 1);
const seed = numberFlag("seed", Math.floor(Math.random() * 2 ** 31));
/** A step that did not occur as often as was drawn is tried again at its first occurrence. */
const TRIES = 3;

const bar = new Bar("B08 trust:runs");
const random = new Random(seed);
const scratch = mkdtempSync(join(tmpdir(), "gsv-runs-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void killAll().then(() => process.exit(1)));

try {
  const { bundle } = await import("../../tools/bundle.mjs");
  const outdir = join(scratch, "bundle");
  await bundle({ outdir, faults: true });
  await runHealthy(outdir);
  await cutAfterCommand(outdir);
  await catchBroken(bar, outdir, scratch, random);
} catch (error) {
  bar.check("harness", false, () => (error instanceof Error ? String(error.stack) : String(error)));
}
await killAll();
rmSync(scratch, { recursive: true, force: true });
bar.end(seed);

async function runHealthy(bundle: string): Promise<void> {
  const world = await World.make(bundle, join(scratch, "healthy"), random.fork(1));
  const campaign = new Campaign(bar, world, random.fork(2));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, most] of random.sample(Object.entries(POINTS) as [RunCrashPoint, number][], 100)) {
      let isReached = false;
      for (let tries = 0; tries < TRIES && !isReached; tries++)
        isReached = await campaign.live({ at, times: tries === 0 ? random.int(1, most) : 1 });
      bar.check("named steps", isReached, () => `the gateway never came to ${at}`);
    }
  }
  for (let kill = 0; kill < KILLS; kill++) await campaign.live({ at: "any moment", afterMs: random.int(1, 900) });
  for (let kill = 0; kill < KILLS; kill++) await campaign.live({ at: "after commit", times: random.int(20, 150) });
  await campaign.end();
  bar.numbers["slowest to rest, ms"] = campaign.slowestMs;
  bar.numbers["model calls"] = world.provider.asked.length;
  await world.close();
}

/** Kills after a command on the gateway has run and before its result is stored: the one moment at which it could be repeated. */
async function cutAfterCommand(bundle: string): Promise<void> {
  const world = await World.make(bundle, join(scratch, "command"), random.fork(5));
  const campaign = new Campaign(bar, world, random.fork(6), ["gsv"]);
  const isReached = await campaign.live({ at: "run-tool-done", times: 1 });
  bar.check("named steps", isReached, () => "no command on the gateway was done");
  await campaign.end();
  await world.close();
}
