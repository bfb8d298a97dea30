// What a long stretch of work leaves in memory: turns with and without a tool, files and commands, and then a minute of nothing.

import { setTimeout as sleep } from "node:timers/promises";
import { rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";

const TURNS = 13_500;
const PROCESSES = 64;
const SLICE_SECONDS = 5;
const REST_MS = 60_000;
const GOAL_MB = 150;

export async function work(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const connection = await stage.line(gateway);
  await connection.call("fs.write", { path: "~/f", content: "a small file\n" });
  const pids: string[] = [];
  for (let at = 0; at < PROCESSES; at++) pids.push((await connection.call("proc.spawn", { profile: "task", label: `work ${at}` })).pid);
  connection.close();
  const megabytes = () => rssKb(gateway.pid) / 1024;
  const before = megabytes();
  const load = stage.load();
  const target = stage.target(gateway);
  const pipeline = { do: "pipeline" as const, target, inFlight: 8, seconds: 1 };
  const paths = Array.from({ length: 100 }, (_, at) => ({ path: `~/w${at}` }));
  const startedAt = performance.now();
  let turns = 0;
  while (turns < TURNS) {
    for (const message of ["hello there", "read the file and tell me"]) {
      const { perSecond } = await load.run({ do: "turns", target, pids, message, seconds: SLICE_SECONDS });
      turns += perSecond! * SLICE_SECONDS;
    }
    await load.run({ ...pipeline, call: "fs.write", args: paths, contentBytes: 4096 });
    await load.run({ ...pipeline, call: "fs.read", args: paths });
    await load.run({ ...pipeline, call: "shell.exec", args: [{ input: "echo hi" }] });
  }
  load.stop();
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const after = megabytes();
  await sleep(REST_MS);
  const rested = megabytes();
  await Promise.all([gateway.stop(), provider.stop()]);
  const finding = (when: string, rssMb: number, goal = ""): Finding => {
    const bench = `memory ${when} ${Math.round(turns)} turns, files and commands in ${minutes} minutes`;
    return { bench, gateway: { rssMb }, floor: { rssMb: before }, ratio: rssMb / before, goal, pass: goal === "" ? null : rssMb < GOAL_MB };
  };
  return [finding("right after", after), finding("a minute after", rested, `< ${GOAL_MB} MB`)];
}
