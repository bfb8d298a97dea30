// Fifty connections with one request in flight each: what a call costs when its frames cannot share a socket's write. Then a storm:
// a thousand clients connect at once, and the memory of the gateway at its peak and a minute after they have left.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../children.ts";
import type { Job, Target } from "../load.ts";
import { rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import type { Measure } from "../stats.ts";
import { textOf } from "../text.ts";

const CONNECTIONS = 50;
const DEVICE = "bench";
const FILE_BYTES = 256;
const KEY = "config/server/name";
const GOALS = { own: 0.75, routed: 0.6 };

const STORM = 1_000;
const SAMPLE_MS = 20;
const AFTER_MS = 60_000;
const GOAL_PEAK_MB = 150;
const GOAL_AFTER = 1.1;

export async function sockets(stage: Stage): Promise<Finding[]> {
  const findings = await manyConnections(stage);
  findings.push(await storm(stage));
  return findings;
}

async function manyConnections(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const workspace = stage.children.folder();
  writeFileSync(join(workspace, "small.txt"), textOf(0, FILE_BYTES));
  const daemon = await stage.device(gateway, DEVICE, workspace);
  const connection = await stage.line(gateway);
  const path = `/home/${stage.account.username}/small.txt`;
  await connection.call("fs.write", { path, content: textOf(0, FILE_BYTES) });
  const routed = { target: DEVICE, path: "small.txt" };
  const answer = await connection.call("fs.read", routed);
  const bare = await stage.floor("bare", { "sys.config.get": { entries: [{ key: KEY, value: "gsv" }] } });
  const disk = await stage.floor("disk");
  const onDisk = await stage.line(disk);
  await onDisk.call("fs.write", { path, content: textOf(0, FILE_BYTES) });
  // Before it pings, which a floor does not know.
  onDisk.close();
  const { relay, end } = await stage.hops("echo", workspace, { "fs.read": answer });
  const jobOf =
    (call: string, args: Record<string, unknown>) =>
    (target: Target): Job => ({
      do: "pipeline",
      target,
      call,
      args: [args],
      inFlight: CONNECTIONS,
      connections: CONNECTIONS,
      seconds: stage.options.seconds,
    });
  const compare = async (name: string, call: string, args: Record<string, unknown>, floor: Server, goal: number): Promise<Finding> => {
    const [mine, theirs] = await stage.compare([gateway, floor], jobOf(call, args));
    const ratio = mine!.perSecond! / theirs!.perSecond!;
    const bench = `${name}, ${CONNECTIONS} connections`;
    return { bench, gateway: mine!, floor: theirs!, ratio, goal: `>= ${goal} of the floor`, pass: ratio >= goal };
  };
  const findings = [
    await compare("sys.config.get", "sys.config.get", { key: KEY }, bare, GOALS.own),
    await compare("fs.read 256 B", "fs.read", { path }, disk, GOALS.own),
    await compare("fs.read on a device", "fs.read", routed, relay, GOALS.routed),
  ];
  connection.close();
  await Promise.all([gateway, daemon, bare, disk, relay, end].map((server) => server.stop()));
  return findings;
}

async function storm(stage: Stage): Promise<Finding> {
  const measures: Measure[] = [];
  for (const server of [await stage.gateway(), await stage.floor("connect")]) {
    measures.push(await measureStorm(stage, server));
    await server.stop();
  }
  const [gateway, floor] = measures;
  const pass = gateway!.rssMb! <= GOAL_PEAK_MB && gateway!.growthMb! <= (GOAL_AFTER - 1) * (gateway!.rssMb! - gateway!.growthMb!);
  return {
    bench: `connect storm, ${STORM} at once: peak memory, and growth a minute later`,
    gateway: gateway!,
    floor: floor!,
    ratio: gateway!.rssMb! / floor!.rssMb!,
    goal: `peak <= ${GOAL_PEAK_MB} MB, back within 10 %`,
    pass,
  };
}

async function measureStorm(stage: Stage, server: Server): Promise<Measure> {
  const load = stage.load();
  const before = rssKb(server.pid) / 1024;
  let peak = before;
  const sampler = setInterval(() => (peak = Math.max(peak, rssKb(server.pid) / 1024)), SAMPLE_MS);
  const startedAt = performance.now();
  await load.run({ do: "storm", target: stage.target(server), count: STORM });
  const seconds = (performance.now() - startedAt) / 1000;
  await load.run({ do: "release" });
  clearInterval(sampler);
  load.stop();
  await sleep(AFTER_MS);
  return { rssMb: peak, growthMb: rssKb(server.pid) / 1024 - before, perSecond: STORM / seconds };
}
