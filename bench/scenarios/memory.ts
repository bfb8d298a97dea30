// How much memory the first command and the first read of a repository leave behind, and whether it is freed when the gateway is
// idle: threads end after half a minute.

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
  const connection = await stage.line(gateway);
  const findings: Finding[] = [];
  let before = Number.NaN;
  const record = async (bench: string, ms: number, goal = "") => {
    await sleep(ms);
    const rssMb = rssKb(gateway.pid) / 1024;
    if (Number.isNaN(before)) before = rssMb;
    const pass = goal === "" ? null : rssMb < GOAL_MB;
    findings.push({ bench: `memory ${bench}`, gateway: { rssMb }, floor: { rssMb: before }, ratio: rssMb / before, goal, pass });
  };
  await record("idle", SETTLE_MS, "< 100 MB");
  await connection.call("shell.exec", { input: "echo hi" });
  await record("after the first command", SETTLE_MS);
  await connection.call("repo.log", { repo: `${stage.account.username}/home` });
  await record("after the first look at a repository", SETTLE_MS);
  await record("after a minute of nothing", RELEASE_MS, "< 100 MB");
  connection.close();
  await gateway.stop();
  return findings;
}
