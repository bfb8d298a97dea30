// The crash campaign: one data directory from its creation through all kills, never wiped. Each cycle starts the gateway (and may
// kill it again while it recovers), checks every promise, puts it under load, and kills it.

import { CallError, Connection } from "../../../src/client/client.ts";
import { check } from "./check.ts";
import { cloneAll, hasGit } from "./clones.ts";
import { checkFiles, checkModes } from "./files.ts";
import { missMonth } from "./downtime.ts";
import { type Faults, Gateway } from "./gateway.ts";
import { enter, type Session } from "./lane.ts";
import type { Oracle } from "./oracle.ts";
import { rememberDatabases } from "./power.ts";
import type { Random } from "./random.ts";
import { leftovers } from "./shelf.ts";
import { blobsOf, sweepAtStart, unswept } from "./sweeping.ts";
import { FIRST, populate, type Setup, setUp, type World } from "./world.ts";
import { Workload } from "./workload.ts";

export type Campaign = { bundle: string; oracle: Oracle; random: Random };
export type Tally = {
  kills: Record<string, number>;
  recoveryMs: number[];
  cycle: number;
  leftovers: number;
  swept: number;
  cloned: number;
  /** Schedules that made up for a month in which the gateway was down, or skipped it. */
  missed: number;
};

type Plan = {
  faults: Faults;
  killAfterMs: number;
  dies: string;
  isQuiet: boolean;
  isPushing?: boolean;
  /** Whether the databases lose everything that was not synced. */
  losesPower?: boolean;
  recovery: (Faults & { killAfterMs: number })[];
};

const START_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
/** If a crash point is not reached within this time, the gateway is killed instead. */
const POINT_MS = 1_500;
const LAZY_POINT_MS = 4_000;
/** A load of a second fills several such segments of the journal. */
const JOURNAL_BYTES = 50_000;
const FILES_EVERY = 6;
/** The ledger has the run, and its message is about to be sent; or the process has it, and the ledger does not say so yet. */
const SCHEDULE_POINTS = ["schedule-planned", "schedule-sent"] as const;
const DEVICES = 3;
/** Below the limit of a thousand per user. */
const DEVICES_MAX = 900;

/** Creates a data directory with a kill at every step of its creation, and then sets it up. */
export async function birth(run: Campaign, home: string, tally: Tally): Promise<Setup> {
  const { oracle, bundle } = run;
  for (const crashAt of ["before-commit:1", "after-commit:1", "mid-start:1"]) await crashWhileStarting(run, home, { crashAt }, tally);
  // A start that finds everything in place commits nothing, so the first commit is that of sys.setup: before it there is no user,
  // after it there are both.
  for (const crashAt of ["before-commit:1", "after-commit:1"]) {
    const gateway = new Gateway(bundle, home, { crashAt });
    const url = await addressOf(gateway);
    const answer = await setUp(url).then(
      () => "acknowledged",
      (error: unknown) => (error instanceof CallError ? `${error.code} ${error.message}` : null),
    );
    if (answer !== null) oracle.violate("wrong", `sys.setup, cut at ${crashAt}, was answered: ${answer}`);
    await endOf(gateway, oracle, POINT_MS);
    count(tally, crashAt);
  }
  const gateway = new Gateway(bundle, home);
  const url = await addressOf(gateway);
  const again = await setUp(url).then(
    () => 200,
    (error: unknown) => (error instanceof CallError ? error.code : 0),
  );
  if (again !== 409) oracle.violate("half", `sys.setup was committed, but again it answers ${again}`);
  const setup = await populate(url);
  if (!setup.accounts.some(({ username }) => username === FIRST.username)) oracle.violate("half", "sys.setup left no user");
  await gateway.kill();
  count(tally, "random");
  checkModes(home, oracle);
  return setup;
}

export async function campaign(run: Campaign, world: World, kills: number, tally: Tally): Promise<void> {
  const { oracle, random } = run;
  while (killed(tally) < kills && oracle.violations.length === 0) {
    tally.cycle++;
    const plan = planOf(random.fork(tally.cycle), tally.cycle);
    oracle.note(`cycle ${tally.cycle}: ${JSON.stringify(plan)}`);
    for (const { killAfterMs, ...faults } of plan.recovery) await crashWhileStarting(run, world.home, faults, tally, killAfterMs);
    const restore = plan.losesPower ? rememberDatabases(world.home) : null;
    await live(run, world, plan, tally);
    restore?.();
    checkModes(world.home, oracle);
    if (tally.cycle % FILES_EVERY === 0) checkFiles(world);
  }
  if (oracle.violations.length === 0) await finalCheck(run, world, tally);
}

/** Runs the gateway once, from spawn to kill. */
export async function live({ bundle, oracle, random }: Campaign, world: World, plan: Omit<Plan, "recovery">, tally: Tally): Promise<void> {
  tally.leftovers += leftovers(world.home);
  const gateway = new Gateway(bundle, world.home, plan.faults);
  const draws = random.fork(tally.cycle, 1);
  try {
    const url = await addressOf(gateway);
    const root = await reconnect(url, world, gateway, tally);
    if (leftovers(world.home) > 0) oracle.violate("half", "what a crash left beside the blobs is still there after a start");
    await check(url, root, world, draws);
    root.close();
    if (oracle.violations.length === 0) await load(url, gateway, world, plan, draws);
  } catch (error) {
    await judgeFailure(gateway, oracle, error);
  }
  await gateway.kill();
  const { complaint } = gateway;
  if (complaint !== null) oracle.violate("wrong", complaint);
  // A crash point that was not reached must not count.
  count(tally, plan.faults.crashAt !== undefined && gateway.wasKilled ? `${plan.dies} not reached` : plan.dies);
}

export function newTally(): Tally {
  return { kills: {}, recoveryMs: [], cycle: 0, leftovers: 0, swept: 0, cloned: 0, missed: 0 };
}

export function killed(tally: Tally): number {
  return Object.values(tally.kills).reduce((sum, times) => sum + times, 0);
}

/** Runs the workload until the gateway has ended; with `isQuiet` only devices, with no other batch that their rows could share. */
async function load(
  url: string,
  gateway: Gateway,
  world: World,
  { killAfterMs, isQuiet, isPushing }: Omit<Plan, "recovery">,
  random: Random,
): Promise<void> {
  const people = world.lanes.filter(({ index }) => index % 2 === 0).map(({ person }) => person.username);
  const { devices } = world.model;
  // A signal that announces a device is a promise too.
  world.lanes[0]!.line!.onSignal = ({ signal, payload }) => {
    const { event, device } = payload as { event: string; device: { deviceId: string } };
    if (signal === "device.status" && event === "connected") devices.add(device.deviceId);
  };
  const busy = isQuiet ? [] : world.lanes;
  const running = busy.map((lane) => new Workload(lane, random.fork(lane.index), people).run(random.int(8, 32)));
  const connectingDevices = Array.from({ length: DEVICES }, () => plugIn(url, world, random, killAfterMs));
  const pushing = isPushing ? [world.pusher.run(url)] : [];
  await gateway.endsWithin(killAfterMs);
  await gateway.kill();
  await Promise.all([...running, ...connectingDevices, ...pushing]);
}

/** Connects a new device, or in a long campaign a known one. */
async function plugIn(url: string, { driver, model, lanes }: World, random: Random, withinMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, random.next() * Math.min(withinMs, 300)));
  const { username } = lanes.find(({ person }) => person.uid === driver.uid)!.person;
  const isFull = model.devices.size >= DEVICES_MAX;
  const id = (isFull ? random.pick([...model.devices]) : undefined) ?? `device-${model.stamp()}`;
  const n = model.oracle.intent("sys.connect", { device: id }, undefined);
  await enter(url, { username, token: driver.token }, { id, role: "driver" }).then(
    () => {
      model.oracle.ack(n, id);
      model.devices.add(id);
    },
    (error: unknown) => {
      if (error instanceof CallError) model.oracle.violate("wrong", `device ${id}: ${error.code} ${error.message}`);
    },
  );
}

async function crashWhileStarting(
  { bundle, oracle }: Campaign,
  home: string,
  faults: Faults,
  tally: Tally,
  killAfterMs = START_MS,
): Promise<void> {
  const gateway = new Gateway(bundle, home, faults);
  await endOf(gateway, oracle, killAfterMs);
  if (killAfterMs === START_MS && (await gateway.ready) !== null) oracle.violate("wrong", `${faults.crashAt} was not reached`);
  count(tally, faults.crashAt === undefined ? "recovering" : `recovering ${faults.crashAt}`);
}

async function endOf(gateway: Gateway, oracle: Oracle, withinMs: number): Promise<void> {
  if (!(await gateway.endsWithin(withinMs))) await gateway.kill();
  if (gateway.complaint !== null) oracle.violate("wrong", gateway.complaint);
}

/** Measures from the start of the process to the first accepted sys.connect. */
async function reconnect(url: string, { root }: World, gateway: Gateway, tally: Tally): Promise<Connection> {
  const { username, token } = root;
  const entered: { line: Connection; session: Session } = await enter(url, { username, token }, { id: "oracle" });
  tally.recoveryMs.push(performance.now() - gateway.startedAt);
  return entered.line;
}

async function addressOf(gateway: Gateway): Promise<string> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error(`no gateway after ${START_MS} ms`)), START_MS).unref());
  const url = await Promise.race([gateway.ready, late]);
  if (url === null) throw new Error("the gateway ended before it was up");
  return url;
}

/** A lost connection is expected in a crash; from a gateway that stays alive it is a fault. */
async function judgeFailure(gateway: Gateway, oracle: Oracle, error: unknown): Promise<void> {
  if (await gateway.endsWithin(STOP_TIMEOUT_MS)) return oracle.note(`died while being checked: ${String(error)}`);
  oracle.violate("wrong", `while being checked: ${error instanceof Error ? error.stack : String(error)}`);
}

/** The final check: everything once more, a graceful stop, and the files that are left. */
async function finalCheck({ bundle, oracle, random }: Campaign, world: World, tally: Tally): Promise<void> {
  checkFiles(world);
  // Twice, so that requests which the first round repeats are judged too.
  for (const round of [1, 2]) {
    const before = blobsOf(world.home).length;
    const named = round === 1 ? null : sweepAtStart(world.home);
    const missed = round === 1 ? new Map<string, number>() : missMonth(world.home);
    const gateway = new Gateway(bundle, world.home);
    try {
      const url = await addressOf(gateway);
      const root = await reconnect(url, world, gateway, tally);
      await check(url, root, world, random.fork(tally.cycle, 1 + round));
      for (const { calendar } of world.lanes) calendar.judgeMissed(missed);
      tally.missed = missed.size;
      if (named !== null) {
        const left = await unswept(world.home, named);
        if (left.length > 0) oracle.violate("wrong", `${left.length} blobs that nobody names are not swept: ${left[0]}`);
        tally.swept = before - blobsOf(world.home).length;
        tally.cloned = await cloneAll(url, root, world.root, oracle);
      }
      if (!(await gateway.stop(STOP_TIMEOUT_MS))) oracle.violate("wrong", "SIGTERM did not stop the gateway in time");
    } catch (error) {
      // This gateway was not killed.
      oracle.violate("wrong", `at the last look: ${error instanceof Error ? error.stack : String(error)}`);
    }
    await gateway.kill();
    if (gateway.complaint !== null) oracle.violate("wrong", gateway.complaint);
    checkFiles(world);
  }
}

/** The first cycle dies between writing and renaming a blob, so that every run covers that. */
function planOf(random: Random, cycle: number): Plan {
  const recovery = Array.from({ length: random.chance(0.2) ? random.int(1, 3) : 0 }, () => {
    const crashAt = random.pick(["before-commit:1", "after-commit:1", "mid-start:1", "mid-recovery:1", undefined]);
    if (crashAt === "mid-start:1") return { crashAt, killAfterMs: START_MS };
    // A start commits something only where a crash left connections or devices behind.
    return crashAt === undefined ? { killAfterMs: random.int(5, 400) } : { crashAt, killAfterMs: POINT_MS };
  });
  if (cycle === 1)
    return { faults: { crashAt: "mid-blob-rename:3" }, killAfterMs: POINT_MS, dies: "mid-blob-rename", isQuiet: false, recovery };
  // So that every run covers what a schedule does.
  if (cycle === 3) {
    const name = random.pick(SCHEDULE_POINTS)!;
    return { faults: { crashAt: `${name}:${random.int(1, 4)}` }, killAfterMs: LAZY_POINT_MS, dies: name, isQuiet: false, recovery };
  }
  // git is slow, and under the load of all others it would never get to push.
  if (hasGit && cycle % 3 === 2)
    return { faults: {}, killAfterMs: random.int(400, 2_000), dies: "pushing", isQuiet: true, isPushing: true, recovery };
  if (cycle % 6 === 4) {
    const faults = { journalBytes: Number.MAX_SAFE_INTEGER };
    return { faults, killAfterMs: random.int(5, 3_000), dies: "power", isQuiet: false, losesPower: true, recovery };
  }
  if (random.chance(0.4)) return { faults: {}, killAfterMs: random.int(5, 600), dies: "random", isQuiet: random.chance(0.15), recovery };
  const [name, most] = random.pick([
    ["before-commit", 150],
    ["after-commit", 150],
    ["repo-before-commit", 60],
    ["repo-after-commit", 60],
    ["mid-flush", 2500],
    ["mid-blob-rename", 20],
    ["mid-append", 150],
    ["before-sync", 150],
    ["before-lazy-commit", 3],
    ["after-lazy-commit", 3],
    ["mid-rotation", 3],
    ["before-segment-removal", 2],
    ...SCHEDULE_POINTS.map((point) => [point, 3] as const),
  ] as const)!;
  // Squared, so that the first occurrences, which fall into the check itself, are well represented.
  const at = 1 + Math.floor(random.next() ** 2 * most);
  // Databases are committed each second, so that the points around that need more time.
  const faults = { crashAt: `${name}:${at}`, ...(most <= 3 || random.chance(0.5) ? { journalBytes: JOURNAL_BYTES } : {}) };
  return { faults, killAfterMs: most <= 3 ? LAZY_POINT_MS : POINT_MS, dies: name, isQuiet: false, recovery };
}

function count(tally: Tally, how: string): void {
  tally.kills[how] = (tally.kills[how] ?? 0) + 1;
}
