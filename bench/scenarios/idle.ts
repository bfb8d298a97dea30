// What an idle authenticated connection costs in memory. Each round starts a fresh server, because a heap that has grown once
// hides further growth; it is warmed up first, so that compiled code does not count as connections.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../children.ts";
import { rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Measure, middle } from "../stats.ts";

const CONNECTIONS = 2_000;
const WARM_UP = 200;
/** Below the gateway's limit of strangers per address. */
const AT_ONCE = 8;
/** Long enough for the gateway to notice that it is idle and to return memory. */
const SETTLE_MS = 30_000;
const COLLECT_MS = 1_500;
const GOAL = 1.5;

/** Flags that make a server collect its garbage and write its live memory to `file` on SIGUSR2. */
function reportFlags(file: string): string[] {
  const code = `import{writeFileSync as w}from'node:fs';process.on('SIGUSR2',()=>{gc();gc();const m=process.memoryUsage();w('${file}',String(m.heapUsed+m.external))})`;
  return ["--expose-gc", "--import", `data:text/javascript,${code}`];
}

export async function idle(stage: Stage): Promise<Finding[]> {
  const mine: Rounds = { rss: [], "live heap": [] };
  const theirs: Rounds = { rss: [], "live heap": [] };
  const file = join(stage.children.folder(), "memory");
  for (let round = 0; round < stage.options.rounds; round++) {
    await measure(stage, await stage.gateway(reportFlags(file)), file, mine);
    await measure(stage, await stage.floor("connect", {}, reportFlags(file)), file, theirs);
  }
  // Resident memory is what an operator sees, but it includes freed space and so varies between rounds, even after a collection.
  // The live heap repeats to a percent but leaves out memory outside V8.
  return (["rss", "live heap"] as const).map((how) => {
    const [gateway, floor] = [middle(mine[how]), middle(theirs[how])];
    const ratio = gateway.kbPerConnection! / floor.kbPerConnection!;
    const range = (rounds: Measure[]) => rounds.map((round) => round.kbPerConnection!.toFixed(1)).join(" ");
    console.error(`idle, ${how}: KB each, round by round: gateway ${range(mine[how])}, floor ${range(theirs[how])}`);
    return { bench: `idle, ${how}`, gateway, floor, ratio, goal: "<= 1.5x the floor's memory each", pass: ratio <= GOAL };
  });
}

type Rounds = Record<"rss" | "live heap", Measure[]>;

async function measure(stage: Stage, server: Server, file: string, rounds: Rounds): Promise<void> {
  const load = stage.load();
  const target = stage.target(server);
  const liveKb = async () => {
    rmSync(file, { force: true });
    process.kill(server.pid, "SIGUSR2");
    await sleep(COLLECT_MS);
    return Number(readFileSync(file, "utf8")) / 1024;
  };
  await load.run({ do: "hold", target, count: WARM_UP, atOnce: AT_ONCE });
  await load.run({ do: "release" });
  await sleep(SETTLE_MS);
  const [rssBefore, liveBefore] = [rssKb(server.pid), await liveKb()];
  await load.run({ do: "hold", target, count: CONNECTIONS, atOnce: AT_ONCE });
  await sleep(SETTLE_MS);
  const [rss, live] = [rssKb(server.pid), await liveKb()];
  rounds.rss.push({ kbPerConnection: (rss - rssBefore) / CONNECTIONS, rssMb: rss / 1024 });
  rounds["live heap"].push({ kbPerConnection: (live - liveBefore) / CONNECTIONS });
  await load.run({ do: "release" });
  load.stop();
  await server.stop();
}
