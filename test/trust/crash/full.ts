// A full disk: the answer is 507, nothing of the batch is kept, a connection that lost its identity with it can log in again, and
// everything works again afterwards. Then the usual crash and the usual checks.

import { join } from "node:path";
import { check } from "./check.ts";
import { live, type Campaign, newTally } from "./campaign.ts";
import { checkFiles, pagesOf } from "./files.ts";
import { type Faults, Gateway } from "./gateway.ts";
import { enter, type Lane } from "./lane.ts";
import type { Op } from "./model.ts";
import type { Random } from "./random.ts";
import { copyOf, type Setup, type World, worldOf } from "./world.ts";
import { Workload } from "./workload.ts";

export type FullNumbers = { scenarios: number; refused: number; cut: number };

type Scenario = {
  name: string;
  faults: (home: string) => Faults;
  /** Runs before the load, so that its rows are in the commit that fails. */
  prelude?: (url: string, world: World) => Promise<void>;
  /** Bytes of one value per round. */
  bulk: number;
};

const SCENARIOS: Scenario[] = [
  // Identities are relaxed rows: the first write commits them with it, and they are lost with it.
  { name: "with fresh identities", faults: () => ({ fullAt: 2 }), bulk: 0 },
  { name: "under load", faults: () => ({ fullAt: 12 }), bulk: 0 },
  { name: "while somebody leaves", faults: () => ({ fullAt: 3 }), prelude: connectAndDisconnect, bulk: 0 },
  { name: "in the middle of a statement", faults: (home) => ({ pagesMax: pagesOf(home) + 40 }), bulk: 400_000 },
];

const ROUNDS = 12;
const PER_ROUND = 12;
/** Longer than relaxed rows wait for their commit. */
const RELAXED_MS = 1_500;

export async function fullDisk(run: Campaign, setup: Setup, template: string, scratch: string): Promise<FullNumbers> {
  const numbers: FullNumbers = { scenarios: 0, refused: 0, cut: 0 };
  for (const scenario of SCENARIOS) {
    if (run.oracle.violations.length > 0) break;
    numbers.scenarios++;
    run.oracle.note(`full disk ${scenario.name}`);
    const world = worldOf(setup, copyOf(template, join(scratch, `full-${numbers.scenarios}`)), run.oracle);
    const random = run.random.fork(2_000 + numbers.scenarios);
    const gateway = new Gateway(run.bundle, world.home, scenario.faults(world.home));
    try {
      const { refused, cut } = await fill(await addressOf(gateway), world, scenario, random);
      numbers.refused += refused;
      numbers.cut += cut;
      if (refused + cut === 0) run.oracle.violate("wrong", `full disk ${scenario.name}: nobody was refused`);
    } catch (error) {
      run.oracle.violate("wrong", `full disk ${scenario.name}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    await gateway.kill();
    if (gateway.complaint !== null) run.oracle.violate("wrong", gateway.complaint);
    checkFiles(world);
    await live({ ...run, random }, world, { faults: {}, killAfterMs: 50, dies: "full", isQuiet: false }, newTally());
    checkFiles(world);
  }
  return numbers;
}

async function fill(url: string, world: World, { prelude, bulk }: Scenario, random: Random): Promise<{ refused: number; cut: number }> {
  const lanes = [world.lanes[0]!, world.lanes[2]!, world.lanes[4]!];
  const loads = lanes.map((lane) => new Workload(lane, random.fork(lane.index), []));
  await prelude?.(url, world);
  await Promise.all(lanes.map((lane) => lane.open(url)));
  const sum = { refused: 0, cut: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const outcomes = await Promise.all(lanes.flatMap((lane, at) => opsOf(lane, loads[at]!, random, bulk).map((op) => lane.send(op))));
    const refused = outcomes.filter((outcome) => outcome === "full").length;
    const cut = outcomes.filter((outcome) => outcome === "cut").length;
    sum.refused += refused;
    sum.cut += cut;
    // Connections that lost their identity log in again, find out what was kept, and repeat the rest.
    if (cut > 0) await inspect(url, world, false, random);
  }
  // There is space for small writes again, or still.
  for (const [at, lane] of lanes.entries()) {
    const outcome = await lane.send(loads[at]!.set(lane.hot[0]!, true, 0));
    if (outcome !== "ok") world.model.oracle.violate("wrong", `after a full disk a small write is ${outcome}`);
  }
  await inspect(url, world, bulk > 0, random);
  return sum;
}

/** Checks the running gateway. While the disk stays full, requests are not repeated: they would be refused again. */
async function inspect(url: string, world: World, staysFull: boolean, random: Random): Promise<void> {
  const { root, model, lanes } = world;
  const { line } = await enter(url, { username: root.username, token: root.token }, { id: "oracle" });
  if (staysFull) model.unsure.clear();
  await check(url, line, world, random);
  const { connections } = await line.call("sys.connection.list", {}, { timeoutMs: 30_000 });
  const known = new Set(["oracle", ...lanes.map(({ index }) => `lane-${index}`)]);
  const ghosts = connections.filter(({ clientId, lastHeardAt }) => !known.has(clientId) && lastHeardAt === 0);
  if (ghosts.length > 0) model.oracle.violate("wrong", `connections of sockets that are gone: ${JSON.stringify(ghosts)}`);
  line.close();
}

function opsOf(lane: Lane, load: Workload, random: Random, bulk: number): Op[] {
  const ops = Array.from({ length: PER_ROUND }, () => {
    if (random.chance(0.15)) return load.commit(random.chance(0.5));
    return random.chance(0.2) ? load.createToken(true) : load.overwrite(random.chance(0.5));
  });
  if (bulk > 0) ops.splice(random.int(2, PER_ROUND - 2), 0, load.set(random.pick(lane.hot)!, false, bulk));
  return ops;
}

/** Connects and disconnects, so that the next commit, which fails, is the one that removes the connection. */
async function connectAndDisconnect(url: string, { root }: World): Promise<void> {
  const { line } = await enter(url, { username: root.username, token: root.token }, { id: "leaver" });
  await new Promise((resolve) => setTimeout(resolve, RELAXED_MS));
  line.close();
  await new Promise((resolve) => setTimeout(resolve, RELAXED_MS / 8));
}

async function addressOf(gateway: Gateway): Promise<string> {
  const url = await gateway.ready;
  if (url === null) throw new Error("the gateway ended before it was up");
  return url;
}
