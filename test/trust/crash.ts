// trust:crash. A real gateway under a seeded workload is killed at random moments and at named points; an oracle outside it knows
// what was acknowledged. `--kills N` for more, `--seed S` to repeat a run, `--broken` to prove at length that a gateway that
// answers before it commits is caught. The last line is the result.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { catchBroken } from "./crash/broken.ts";
import { birth, campaign, killed, type Campaign, newTally, type Tally } from "./crash/campaign.ts";
import { fullDisk } from "./crash/full.ts";
import { killAll } from "./crash/gateway.ts";
import { Oracle } from "./crash/oracle.ts";
import { Random } from "./crash/random.ts";
import { copyOf, type World, worldOf } from "./crash/world.ts";

type Outcome = { pass: boolean; numbers: Record<string, unknown> };

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const BROKEN_CYCLES_MAX = 50;

const { values } = parseArgs({
  options: { kills: { type: "string", default: "10" }, seed: { type: "string" }, broken: { type: "boolean", default: false } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const kills = Number(values.kills);
if (!Number.isInteger(seed) || !Number.isInteger(kills)) throw new Error("--kills and --seed take whole numbers");

// Copies of data directories must stay as private as the gateway made them.
process.umask(0o077);
const startedAt = Date.now();
const scratch = mkdtempSync(join(tmpdir(), "gsv-crash-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void killAll().then(() => process.exit(1)));

const oracle = new Oracle(join(scratch, "acks.log"));
const tally = newTally();
let outcome: Outcome = { pass: false, numbers: {} };
try {
  outcome = await run();
} catch (error) {
  oracle.violate("wrong", `the harness itself: ${error instanceof Error ? error.stack : String(error)}`);
}
await killAll();
await oracle.close();
if (outcome.pass) rmSync(scratch, { recursive: true, force: true });
else explain();
const numbers = { ...outcome.numbers, wallMs: Date.now() - startedAt };
console.log(JSON.stringify({ bar: "B08 trust:crash", pass: outcome.pass, numbers, seed, commit: commit() }));
process.exitCode = outcome.pass ? 0 : 1;

async function run(): Promise<Outcome> {
  const { bundle } = (await import(join(ROOT, "tools/bundle.mjs"))) as {
    bundle: (options: { outdir: string; faults: boolean }) => Promise<void>;
  };
  const run: Campaign = { bundle: join(scratch, "bundle"), oracle, random: new Random(seed) };
  await bundle({ outdir: run.bundle, faults: true });
  const home = join(scratch, "home");
  mkdirSync(home);
  const setup = await birth(run, home, tally);
  const template = copyOf(home, join(scratch, "template"));
  if (values.broken) {
    const atPoints = await catchBroken(run, setup, template, scratch, { cycles: 10, atPoint: true, stopAtFirst: false });
    const byKill = await catchBroken(run, setup, template, scratch, { cycles: BROKEN_CYCLES_MAX, atPoint: false, stopAtFirst: true });
    return { pass: atPoints.caught === atPoints.cycles && oracle.violations.length === 0, numbers: { broken: { atPoints, byKill } } };
  }
  const world = worldOf(setup, home, oracle);
  await campaign(run, world, kills, tally);
  const filesInGit = world.lanes
    .flatMap(({ folders }) => folders)
    .filter(({ isInGit }) => isInGit)
    .flatMap(({ documents }) => documents);
  const repos = { applied: oracle.acked["repo.apply"] ?? 0, pushed: world.pusher.pushes, files: filesInGit.length, cloned: tally.cloned };
  const schedules = { added: oracle.acked["sched.add"] ?? 0, runs: countRuns(world), missed: tally.missed };
  const result = { ...numbersOf(tally), repos, schedules };
  const full = await fullDisk(run, setup, template, scratch);
  const broken = await catchBroken(run, setup, template, scratch, { cycles: 2, atPoint: true, stopAtFirst: false });
  if (broken.caught < broken.cycles)
    oracle.violate("wrong", `the broken gateway was caught in ${broken.caught} of ${broken.cycles} cycles`);
  return { pass: oracle.violations.length === 0, numbers: { ...result, full, broken } };
}

function countRuns({ lanes }: World): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { runs } of lanes.flatMap(({ calendar }) => [...calendar.planned.values()]))
    for (const { status } of runs.values()) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function numbersOf({ kills: killsBy, recoveryMs, cycle, leftovers, swept }: Tally) {
  const sorted = recoveryMs.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  const of = (call: string) => oracle.acked[call] ?? 0;
  return {
    kills: killed(tally),
    killsBy,
    cycles: cycle,
    acked: oracle.acks,
    files: { written: of("fs.write"), edited: of("fs.edit"), deleted: of("fs.delete"), readUnderLoad: of("fs.read") },
    leftovers,
    swept,
    lost: oracle.count("lost"),
    doubled: oracle.count("doubled"),
    half: oracle.count("half"),
    revived: oracle.count("revived"),
    recoveryMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
  };
}

function explain(): void {
  console.error(`trust:crash failed with seed ${seed} in cycle ${tally.cycle}; the data is kept in ${scratch}`);
  for (const line of oracle.tail()) console.error(line);
  for (const { kind, text } of oracle.violations.slice(0, 20)) console.error(`${kind}: ${text}`);
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
