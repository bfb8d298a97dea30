// Calls to a device: load, gateway and daemon, compared to load, relay and far end. A file read is judged by the hops alone, as
// if reading were free. A command is judged by a far end that starts the same shell, since no relay starts one in the time of two
// hops. Then the same while 500 other devices are connected and idle.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../children.ts";
import type { Job, Target } from "../load.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Measure, middle } from "../stats.ts";
import { textOf } from "../text.ts";

const DEVICE = "bench";
const FILE_BYTES = 256;
const OTHERS = 500;
/** Below the gateway's limit of strangers per address. */
const AT_ONCE = 8;
const SETTLE_MS = 1_000;
const GOAL_SHARE = 0.4;
const GOAL_P50 = 2;
const GOAL_AMONG = 1.2;

/** A device runs no more than 16 commands at once. */
const CALLS = [
  { call: "fs.read", args: { target: DEVICE, path: "small.txt" }, many: 32, judged: "echo" },
  { call: "shell.exec", args: { target: DEVICE, input: "echo hi" }, many: 16, judged: "work" },
] as const;
const FLOORS = { echo: "two hops", work: "two hops and the work itself" };

type Call = (typeof CALLS)[number];

export async function device(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const workspace = stage.children.folder();
  writeFileSync(join(workspace, "small.txt"), textOf(0, FILE_BYTES));
  const daemon = await stage.device(gateway, DEVICE, workspace);
  const answers = await firstAnswers(stage, gateway);
  const floors = { echo: await stage.hops("echo", workspace, answers), work: await stage.hops("work", workspace, answers) };
  const farPids = new Map([
    [gateway.pid, daemon.pid],
    [floors.echo.relay.pid, floors.echo.end.pid],
    [floors.work.relay.pid, floors.work.end.pid],
  ]);
  const job = ({ call, args }: Call, inFlight: number, target: Target): Job => ({
    do: "pipeline",
    target: { ...target, farPid: farPids.get(target.pid)! },
    call,
    args: [args],
    inFlight,
    seconds: stage.options.seconds,
  });
  const findings: Finding[] = [];
  for (const each of CALLS) {
    for (const inFlight of [each.many, 1]) {
      const servers = [gateway, floors.echo.relay, floors.work.relay];
      const [mine, echo, work] = await stage.compare(servers, (target) => job(each, inFlight, target));
      findings.push(finding(each, "echo", inFlight, mine!, echo!), finding(each, "work", inFlight, mine!, work!));
    }
  }
  await Promise.all(Object.values(floors).flatMap(({ relay, end }) => [relay.stop(), end.stop()]));
  for (const each of CALLS) findings.push(await measureAmongOthers(stage, gateway, each, (target) => job(each, each.many, target)));
  await Promise.all([gateway.stop(), daemon.stop()]);
  return findings;
}

/** Checks the answers, because the load does not: a refusal of the device is an answer too. */
async function firstAnswers(stage: Stage, gateway: Server): Promise<Record<string, unknown>> {
  const connection = await stage.line(gateway);
  const answers: Record<string, unknown> = {};
  for (const { call, args } of CALLS) {
    const answer = (await connection.call(call, args)) as { ok?: boolean; status?: string };
    if (answer.ok !== true && answer.status !== "completed") throw new Error(`${call}: ${JSON.stringify(answer)}`);
    answers[call] = answer;
  }
  connection.close();
  return answers;
}

/** Many in flight are judged by throughput, a single one by latency. */
function finding({ call, judged }: Call, how: keyof typeof FLOORS, inFlight: number, gateway: Measure, floor: Measure): Finding {
  const ratio = inFlight === 1 ? gateway.p50Ms! / floor.p50Ms! : gateway.perSecond! / floor.perSecond!;
  const isMet = inFlight === 1 ? ratio <= GOAL_P50 : ratio >= GOAL_SHARE;
  const goal = inFlight === 1 ? `p50 <= ${GOAL_P50}x the floor` : `>= ${GOAL_SHARE} of the floor`;
  const bench = `device, ${call}, ${inFlight} in flight, floor ${FLOORS[how]}`;
  return { bench, gateway, floor, ratio, goal: how === judged ? goal : "", pass: how === judged ? isMet : null };
}

/** Alternates between rounds alone and rounds among others; here "floor" is the gateway alone. */
async function measureAmongOthers(stage: Stage, gateway: Server, { call, many }: Call, job: (target: Target) => Job): Promise<Finding> {
  const connection = await stage.line(gateway);
  const { token } = await connection.call("sys.token.create", { kind: "node" });
  connection.close();
  const [load, others] = [stage.load(), stage.load()];
  const rounds: Record<"alone" | "among", Measure[]> = { alone: [], among: [] };
  for (let round = 0; round < stage.options.rounds; round++) {
    rounds.alone.push(await load.run(job(stage.target(gateway))));
    const target = { ...stage.target(gateway), token: token.token };
    await others.run({ do: "hold", target, count: OTHERS, atOnce: AT_ONCE, as: "devices" });
    await sleep(SETTLE_MS);
    rounds.among.push(await load.run(job(stage.target(gateway))));
    await others.run({ do: "release" });
    await sleep(SETTLE_MS);
  }
  load.stop();
  others.stop();
  const [mine, floor] = [middle(rounds.among), middle(rounds.alone)];
  const ratio = mine.perSecond! / floor.perSecond!;
  const bench = `device, ${call}, ${many} in flight, among ${OTHERS} others / alone`;
  return { bench, gateway: mine, floor, ratio, goal: "within 20 %", pass: 1 / ratio <= GOAL_AMONG };
}
