// Opens a socket and authenticates it with a token: one after the other, and 16 in parallel.

import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";

const GOAL = 2;

export async function connect(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const floor = await stage.floor("connect");
  const findings: Finding[] = [];
  for (const atOnce of [1, 16]) {
    const [mine, theirs] = await stage.compare([gateway, floor], (target) => ({
      do: "connect",
      target,
      atOnce,
      seconds: stage.options.seconds,
    }));
    const ratio = mine!.p50Ms! / theirs!.p50Ms!;
    findings.push({
      bench: `connect, ${atOnce} at once`,
      gateway: mine!,
      floor: theirs!,
      ratio,
      goal: "p50 <= 2x the floor",
      pass: ratio <= GOAL,
    });
  }
  await Promise.all([gateway.stop(), floor.stop()]);
  return findings;
}
