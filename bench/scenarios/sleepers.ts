// The memory cost of processes that are stored and closed: a gateway with one, and the same with nearly as many as a user may have.

import { setTimeout as sleep } from "node:timers/promises";
import { rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { inTurns } from "../text.ts";

const COUNT = 9_900;
/** This many of them have had a run, and have their own file. */
const AWAKENED = 200;
const AT_ONCE = 64;
const SETTLE_MS = 5_000;
const GOAL_MB = 5;

export async function sleepers(stage: Stage): Promise<Finding[]> {
  await (await stage.gateway()).stop();
  const before = await sleepingRssMb(stage);
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const connection = await stage.line(gateway);
  const pids: string[] = [];
  await inTurns(
    0,
    COUNT,
    AT_ONCE,
    async (at) => void pids.push((await connection.call("proc.spawn", { profile: "task", label: `sleeper ${at}` })).pid),
  );
  const load = stage.load();
  await load.run({ do: "turns", target: stage.target(gateway), pids: pids.slice(0, AWAKENED), message: "hello", seconds: 1 });
  load.stop();
  const isBusy = async () => (await connection.call("proc.list", {})).processes.some(({ state }) => state !== "idle");
  while (await isBusy()) await sleep(200);
  connection.close();
  await Promise.all([gateway, provider].map((server) => server.stop()));
  const after = await sleepingRssMb(stage);
  const growthMb = after - before;
  const goal = `<= ${GOAL_MB} MB more`;
  const bench = `${COUNT.toLocaleString("en")} processes asleep`;
  return [
    {
      bench,
      gateway: { rssMb: after, growthMb },
      floor: { rssMb: before, growthMb: 0 },
      ratio: after / before,
      goal,
      pass: growthMb <= GOAL_MB,
    },
  ];
}

async function sleepingRssMb(stage: Stage): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < stage.options.rounds; round++) {
    const gateway = await stage.gateway();
    await sleep(SETTLE_MS);
    samples.push(rssKb(gateway.pid) / 1024);
    await gateway.stop();
  }
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)]!;
}
