// Two builds of the gateway, each on its own data: the same jobs in turn, round by round, so that a busy minute hits both. Here
// "floor" is the build that `--against` names.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Load, Server } from "../children.ts";
import type { Job, Target } from "../load.ts";
import type { Finding } from "../report.ts";
import { Stage } from "../stage.ts";
import { type Measure, middle } from "../stats.ts";
import { textOf } from "../text.ts";

const DEVICE = "bench";
const FILE_BYTES = 256;
const PATHS = 256;
const SETTLE_MS = 300;
const GOAL = 1.05;

type Side = { target: Target; paths: { path: string }[]; keys: { key: string; value: string }[]; pid: string; servers: Server[] };

const JOBS: Record<string, (side: Side, seconds: number) => Job> = {
  "sys.config.get, 32 in flight": (side, seconds) => pipelineOf(side, "sys.config.get", [{ key: "config/server/name" }], 32, seconds),
  "sys.config.set, 32 in flight": (side, seconds) => pipelineOf(side, "sys.config.set", side.keys, 32, seconds),
  "fs.read 256 B, 32 in flight": (side, seconds) => pipelineOf(side, "fs.read", side.paths, 32, seconds),
  "fs.read 256 B, 1 in flight": (side, seconds) => pipelineOf(side, "fs.read", side.paths, 1, seconds),
  "fs.write 256 B, 32 in flight": (side, seconds) => ({
    ...pipelineOf(side, "fs.write", [...side.paths, ...side.paths], 32, seconds),
    contentBytes: FILE_BYTES,
  }),
  "fs.write 256 B, 1 in flight": (side, seconds) => ({
    ...pipelineOf(side, "fs.write", [...side.paths, ...side.paths], 1, seconds),
    contentBytes: FILE_BYTES,
  }),
  "fs.read on a device, 32 in flight": (side, seconds) => pipelineOf(side, "fs.read", [{ target: DEVICE, path: "small.txt" }], 32, seconds),
  "turn, words alone": ({ target, pid }, seconds) => ({ do: "turns", target, pids: [pid], message: "hello there", seconds }),
};

export async function bundles(stage: Stage): Promise<Finding[]> {
  const { against, rounds, seconds } = stage.options;
  if (against === null) return [];
  const sides = [await prepare(stage), await prepare(new Stage({ ...stage.options, bundle: against }))];
  const load = stage.load();
  const findings: Finding[] = [];
  for (const [name, job] of Object.entries(JOBS)) {
    const measures: Measure[][] = [[], []];
    for (let round = 0; round < rounds; round++)
      for (const [at, side] of sides.entries()) measures[at]!.push(await runAndSettle(load, job(side, seconds)));
    const [gateway, floor] = measures.map(middle);
    const ratio = gateway!.cpuMsPerCall! / floor!.cpuMsPerCall!;
    findings.push({ bench: `bundles, ${name}`, gateway: gateway!, floor: floor!, ratio, goal: "CPU <= 1.05x", pass: ratio <= GOAL });
  }
  load.stop();
  await Promise.all(sides.flatMap(({ servers }) => servers.map((server) => server.stop())));
  return findings;
}

/** A gateway with files to read, settings to write, a device, a model and a process. */
async function prepare(stage: Stage): Promise<Side> {
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const workspace = stage.children.folder();
  writeFileSync(join(workspace, "small.txt"), textOf(0, FILE_BYTES));
  const device = await stage.device(gateway, DEVICE, workspace);
  const { username, uid } = stage.account;
  const paths = Array.from({ length: PATHS }, (_, at) => ({ path: `/home/${username}/bench/f${at}.txt` }));
  // Written again with another value each time: SQLite skips a write that changes nothing.
  const keys = Array.from({ length: 2 * PATHS }, (_, at) => ({ key: `users/${uid}/ai/bench/${at % PATHS}`, value: `value ${at}` }));
  const connection = await stage.line(gateway);
  for (const [at, { path }] of paths.entries()) await connection.call("fs.write", { path, content: textOf(at, FILE_BYTES) });
  const { pid } = await connection.call("proc.spawn", { profile: "task", label: "bundles" });
  connection.close();
  return { target: stage.target(gateway), paths, keys, pid, servers: [gateway, provider, device] };
}

function pipelineOf({ target }: Side, call: string, args: Record<string, unknown>[], inFlight: number, seconds: number) {
  return { do: "pipeline" as const, target, call, args, inFlight, seconds };
}

async function runAndSettle(load: Load, job: Job): Promise<Measure> {
  const measure = await load.run(job);
  await sleep(SETTLE_MS);
  return measure;
}
