// trust:disk. A disk that fills up at random points: a real one where a small one can be mounted, and fault switches everywhere:
// database pages of the kernel and of repositories, and blobs that do not fit, fit by half or cannot be synced. Every refusal is
// 507 (in a command "No space left on device"), nothing acknowledged is lost, reads continue, and once there is space the same
// process accepts everything within five seconds. Password guesses are counted as on a healthy disk. `--points N`, `--seed S`.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Bar, numberFlag } from "./bar.ts";
import { checkFiles, pagesOf } from "./crash/files.ts";
import { type Faults, Gateway, killAll } from "./crash/gateway.ts";
import { Oracle } from "./crash/oracle.ts";
import { Random } from "./crash/random.ts";
import { leftovers } from "./crash/shelf.ts";
import { copyOf, populate, type Setup, setUp, type World, worldOf } from "./crash/world.ts";
import { SmallDisk } from "./disk/balloon.ts";
import { guesses } from "./disk/guesses.ts";
import { type Counts, inspect, noCounts, press, reads, resumed } from "./disk/press.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const DISK_BYTES = 24 * 1024 * 1024;
/** With less than this free after the balloon is removed, the disk is full of real data, and the bar continues in a fresh world. */
const ROOMY_BYTES = 7 * 1024 * 1024;
/** Longer than relaxed rows wait for their commit. */
const LAZY_MS = 1_500;
/** How often the workload is repeated if by chance everything it wrote did fit. */
const TRIES = 10;

type Switch = { name: string; faults: (home: string) => Faults; heals: boolean };

const SWITCHES: Switch[] = [
  { name: "kernel pages", faults: (home) => ({ pagesMax: pagesOf(home) + 20 }), heals: false },
  { name: "repository pages", faults: () => ({ repoPagesMax: 11 }), heals: false },
  { name: "repository commit", faults: () => ({ repoFullAt: 20 }), heals: true },
  { name: "blobs: no room", faults: () => ({ blobs: "full:2:12" }), heals: true },
  { name: "blobs: room for half", faults: () => ({ blobs: "short:2:12" }), heals: true },
  { name: "blobs: no room at the sync", faults: () => ({ blobs: "sync:2:12" }), heals: true },
];

const seed = numberFlag("seed", Math.floor(Math.random() * 2 ** 31));
const points = numberFlag("points", 2);
const random = new Random(seed);
const bar = new Bar("B15 trust:disk");
process.umask(0o077);
const scratch = mkdtempSync(join(tmpdir(), "gsv-disk-"));
const bundle = join(scratch, "bundle");
const oracle = new Oracle(join(scratch, "acks.log"));
const total = noCounts();
const resumeMs: number[] = [];
let readsWhileFull = 0;
let mounted: SmallDisk | null = null;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void tidy().then(() => process.exit(1)));

try {
  await run();
} catch (error) {
  oracle.violate("wrong", `the harness itself: ${error instanceof Error ? error.stack : String(error)}`);
}
await tidy();
await oracle.close();
for (const { kind, text } of oracle.violations) bar.check("violations", false, () => `${kind}: ${text}`);
Object.assign(bar.numbers, {
  acked: oracle.acks,
  answered: total.ok,
  refused: total.full,
  cut: total.cut,
  readsWhileFull,
  resumeMsMax: Math.round(Math.max(0, ...resumeMs)),
});
if (oracle.violations.length === 0) rmSync(scratch, { recursive: true, force: true });
else console.error(`the data is kept in ${scratch}`);
bar.end(seed);

async function run(): Promise<void> {
  const { bundle: build } = (await import(join(ROOT, "tools/bundle.mjs"))) as {
    bundle: (options: { outdir: string; faults: boolean }) => Promise<void>;
  };
  await build({ outdir: bundle, faults: true });
  const template = join(scratch, "template");
  mkdirSync(template);
  const setup = await prepareHome(template);
  await trySwitches(setup, template);
  await brokenDisk(setup, template);
  await guesses(bundle, setup, template, scratch, bar);
  await realDisk(setup, template);
}

async function prepareHome(home: string): Promise<Setup> {
  const gateway = new Gateway(bundle, home);
  const url = await addressOf(gateway);
  await setUp(url);
  const setup = await populate(url);
  await gateway.stop(30_000);
  return setup;
}

async function trySwitches(setup: Setup, template: string): Promise<void> {
  for (const [at, { name, faults, heals }] of SWITCHES.entries()) {
    const home = copyOf(template, join(scratch, `switch-${at}`));
    const world = worldOf(setup, home, oracle);
    const draws = random.fork(1_000 + at);
    oracle.note(`switch ${name}`);
    const gateway = new Gateway(bundle, home, faults(home));
    try {
      const url = await addressOf(gateway);
      await open(url, world, draws);
      const counts = noCounts();
      for (let tries = 0; tries < TRIES && counts.full === 0; tries++) add(await press(world.lanes, draws.fork(tries), 4, 6), counts);
      add(counts);
      bar.check("switches", counts.full > 0, () => `${name}: nobody was refused (${JSON.stringify(counts)})`);
      readsWhileFull += await reads(world, draws);
      if (leftovers(home) > 0) oracle.violate("half", `${name}: what did not fit is still beside the blobs`);
      if (heals) for (const lane of world.lanes.slice(0, 4)) resumeMs.push(await resumed(lane, draws.fork(lane.index, 2), oracle));
      bar.check("alive", !gateway.isOver, () => `${name}: the gateway ended`);
    } catch (error) {
      oracle.violate("wrong", `${name}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    await aftermath(gateway, world, draws);
  }
}

/** A failed sync is not a full disk: nobody knows what was kept, so the gateway stops, and a restart recovers. */
async function brokenDisk(setup: Setup, template: string): Promise<void> {
  const home = copyOf(template, join(scratch, "broken"));
  const world = worldOf(setup, home, oracle);
  const gateway = new Gateway(bundle, home, { blobs: "broken:3:3" });
  const url = await addressOf(gateway);
  await open(url, world, random);
  await press(world.lanes, random.fork(2_000), 20, 6);
  bar.check("stops", await gateway.endsWithin(30_000), () => "a gateway goes on after a sync that failed");
  const recovered = new Gateway(bundle, home);
  await inspect(await addressOf(recovered), world, random);
  await recovered.kill();
  checkFiles(world);
}

/** The balloon takes the space while requests are in progress, and frees it again. */
async function realDisk(setup: Setup, template: string): Promise<void> {
  const disk = SmallDisk.mount(join(scratch, "small"), DISK_BYTES);
  mounted = disk;
  bar.numbers.realDisk = disk === null ? "may not be mounted here" : "mounted";
  if (disk === null) return;
  for (let point = 1, life = 1; point <= points && oracle.violations.length === 0; life++) {
    const home = copyOf(template, join(disk.path, `home-${life}`));
    const world = worldOf(setup, home, oracle);
    const gateway = new Gateway(bundle, home);
    try {
      const url = await addressOf(gateway);
      await open(url, world, random.fork(point, 3));
      for (; point <= points && disk.freeBytes > ROOMY_BYTES && oracle.violations.length === 0; point++)
        await fillOnce(url, world, gateway, disk, random.fork(point, 4), point);
    } catch (error) {
      oracle.violate("wrong", `point ${point}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    disk.free();
    await aftermath(gateway, world, random.fork(point, 5));
    if (oracle.violations.length === 0) rmSync(home, { recursive: true });
  }
}

async function fillOnce(url: string, world: World, gateway: Gateway, disk: SmallDisk, draws: Random, point: number): Promise<void> {
  oracle.note(`point ${point}`);
  const leave = draws.chance(0.5) ? 0 : draws.int(1, 300_000);
  const filling = new Promise<void>((resolve) =>
    setTimeout(
      () => {
        disk.fill(leave);
        resolve();
      },
      draws.int(0, 60),
    ),
  );
  const during = await press(world.lanes, draws, 6, 6);
  await filling;
  disk.fill(0);
  const counts = await press(world.lanes, draws.fork(1), 3, 6);
  readsWhileFull += await reads(world, draws);
  add(during);
  add(counts);
  bar.check("points", during.full + counts.full > 0, () => `point ${point}: nobody was refused`);
  bar.check("sockets kept", during.cut + counts.cut === 0, () => `point ${point}: ${during.cut + counts.cut} were cut off`);
  disk.free();
  for (const lane of world.lanes.slice(0, 4)) resumeMs.push(await resumed(lane, draws.fork(lane.index, 2), oracle));
  if (leftovers(world.home) > 0) oracle.violate("half", `point ${point}: what did not fit is still beside the blobs`);
  bar.check("alive", !gateway.isOver, () => `point ${point}: the gateway ended`);
  await inspect(url, world, draws);
  await waitForRelaxedRows();
}

/** After any fault, a crash on top of it loses nothing either. */
async function aftermath(gateway: Gateway, world: World, draws: Random): Promise<void> {
  await gateway.kill();
  if (gateway.complaint !== null) oracle.violate("wrong", gateway.complaint);
  checkFiles(world);
  const recovered = new Gateway(bundle, world.home);
  try {
    await inspect(await addressOf(recovered), world, draws);
  } catch (error) {
    oracle.violate("wrong", `after a restart: ${error instanceof Error ? error.stack : String(error)}`);
  }
  await recovered.kill();
  checkFiles(world);
}

async function open(url: string, world: World, draws: Random): Promise<void> {
  await inspect(url, world, draws);
  await waitForRelaxedRows();
}

function waitForRelaxedRows(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LAZY_MS));
}

async function addressOf(gateway: Gateway): Promise<string> {
  const url = await gateway.ready;
  if (url === null) throw new Error(`the gateway ended before it was up: ${gateway.complaint}`);
  return url;
}

function add(counts: Counts, to = total): void {
  for (const [outcome, times] of Object.entries(counts)) to[outcome as keyof Counts] += times;
}

async function tidy(): Promise<void> {
  await killAll();
  mounted?.unmount();
  mounted = null;
}
