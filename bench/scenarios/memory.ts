// What the first command and the first look at a repository leave in memory, and whether it comes back when nothing is
// asked for a while: threads go after a minute.

import { setTimeout as sleep } from "node:timers/promises";
import { rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";

const SETTLE_MS = 3_000;
const RELEASE_MS = 75_000;
const GOAL_MB = 100;

export async function memory(stage: Stage): Promise<Finding[]> {
  await (await stage.gateway()).stop();
  const gateway = await stage.gateway();
  const line = await stage.line(gateway);
  const findings: Finding[] = [];
  let before = Number.NaN;
  const look = async (bench: string, ms: number, goal = "") => {
    await sleep(ms);
    const rssMb = rssKb(gateway.pid) / 1024;
    if (Number.isNaN(before)) before = rssMb;
    const pass = goal === "" ? null : rssMb < GOAL_MB;
    findings.push({ bench: `memory ${bench}`, gateway: { rssMb }, floor: { rssMb: before }, ratio: rssMb / before, goal, pass });
  };
  await look("idle", SETTLE_MS, "< 100 MB");
  await line.call("shell.exec", { input: "echo hi" });
  await look("after the first command", SETTLE_MS);
  await line.call("repo.log", { repo: `${stage.account.username}/home` });
  await look("after the first look at a repository", SETTLE_MS);
  await look("after a minute of nothing", RELEASE_MS, "< 100 MB");
  line.close();
  await gateway.stop();
  return findings;
}
