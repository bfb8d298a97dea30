// What processes cost in memory that are stored and asleep: a gateway with one, and the same with nearly as many as a user may have.

import { setTimeout as sleep } from "node:timers/promises";
import { rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { inTurns } from "../text.ts";

const COUNT = 9_900;
/** So many of them have said something, and a file of their own. */
const AWAKENED = 200;
const AT_ONCE = 64;
const SETTLE_MS = 5_000;
const GOAL_MB = 5;

export async function sleepers(stage: Stage): Promise<Finding[]> {
  await (await stage.gateway()).stop();
  const before = await asleep(stage);
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const line = await stage.line(gateway);
  const pids: string[] = [];
  await inTurns(
    0,
    COUNT,
    AT_ONCE,
    async (at) => void pids.push((await line.call("proc.spawn", { profile: "task", label: `sleeper ${at}` })).pid),
  );
  const load = stage.load();
  await load.run({ do: "turns", target: stage.target(gateway), pids: pids.slice(0, AWAKENED), message: "hello", seconds: 1 });
  load.stop();
  const isBusy = async () => (await line.call("proc.list", {})).processes.some(({ state }) => state !== "idle");
  while (await isBusy()) await sleep(200);
  line.close();
  await Promise.all([gateway, provider].map((server) => server.stop()));
  const after = await asleep(stage);
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

async function asleep(stage: Stage): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < stage.options.rounds; round++) {
    const gateway = await stage.gateway();
    await sleep(SETTLE_MS);
    found.push(rssKb(gateway.pid) / 1024);
    await gateway.stop();
  }
  return found.toSorted((a, b) => a - b)[Math.floor(found.length / 2)]!;
}
