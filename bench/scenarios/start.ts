// Time from spawn to the first accepted sys.connect on data that is set up, and memory when idle.

import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../children.ts";
import { rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { percentile } from "../stats.ts";
import { firstConnectMs } from "../load.ts";

const STARTS = 10;
const IDLE_MS = 5_000;
const GOAL_MS = 1_000;
const GOAL_MB = 100;

export async function start(stage: Stage): Promise<Finding[]> {
  // The first start creates the data.
  await (await stage.gateway()).stop();
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < STARTS; round++) {
    mine.push(await startMs(stage, () => stage.gateway()));
    theirs.push(await startMs(stage, () => stage.floor("connect")));
  }
  const gateway = { p50Ms: percentile(mine, 0.5), p99Ms: percentile(mine, 0.99), rssMb: await idleMb(await stage.gateway()) };
  const floor = { p50Ms: percentile(theirs, 0.5), p99Ms: percentile(theirs, 0.99), rssMb: await idleMb(await stage.floor("connect")) };
  return [
    {
      bench: "start to first sys.connect",
      gateway,
      floor,
      ratio: gateway.p50Ms / floor.p50Ms,
      goal: "p50 < 1,000 ms (wanted: 600)",
      pass: gateway.p50Ms < GOAL_MS,
    },
    {
      bench: "idle memory",
      gateway: { rssMb: gateway.rssMb },
      floor: { rssMb: floor.rssMb },
      ratio: gateway.rssMb / floor.rssMb,
      goal: "< 100 MB",
      pass: gateway.rssMb < GOAL_MB,
    },
  ];
}

async function startMs(stage: Stage, run: () => Promise<Server>): Promise<number> {
  const server = await run();
  const ms = server.startMs + (await firstConnectMs(stage.target(server)));
  await server.stop();
  return ms;
}

async function idleMb(server: Server): Promise<number> {
  await sleep(IDLE_MS);
  const mb = rssKb(server.pid) / 1024;
  await server.stop();
  return mb;
}
