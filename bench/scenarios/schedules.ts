// What a schedule costs among 100 and among 10,000 of ten users, each with a past of runs: to add and to change one, to run a hundred
// that are due in the same second, and to list them. The floor writes a row and sets a timer; when that is due, it writes another row.
// The messages of a hundred runs are also sent by hand, which is what such a run costs without its schedule.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "../../src/client/connection.ts";
import type { Server } from "../children.ts";
import type { Job, Target } from "../load.ts";
import { exactCpuMs } from "../proc.ts";
import type { Finding } from "../report.ts";
import { type Account, Stage } from "../stage.ts";
import type { Measure } from "../stats.ts";
import { inTurns } from "../text.ts";

type Person = { account: Account; connection: Connection; pid: string; due: string[] };
type Side = { stage: Stage; gateway: Server; provider: Server; people: Person[] };
type Burst = { cpuMs: number; recordedMs: number; deliveredMs: number; answeredMs: number };

const COUNTS = [100, 10_000] as const;
const PEOPLE = 10;
/** So many of each user's schedules are due at once. A user may have 60 runs in a minute. */
const DUE_EACH = 10;
const RUNS_EACH = 20;
const AT_ONCE = 32;
const PAGE = 100;
const GOAL = 2;
const DAY_MS = 24 * 60 * 60 * 1000;
/** From arming to the time that it is for: what arming wrote has been committed by then. */
const LEAD_MS = 2_500;
/** What comes after the time counts for so long, with the commit of a second later. */
const WINDOW_MS = 4_000;
const WINDOWS_MAX = 10;
const MINUTE_MS = 61_000;
const BURSTS_PER_MINUTE = 5;

const ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Sydney", "UTC"];
/** Of a month that is far away: none of these is due while others are measured. */
const FAR_MONTH = ((new Date().getMonth() + 6) % 12) + 1;

export async function schedules(stage: Stage): Promise<Finding[]> {
  const sides = [await prepare(new Stage(stage.options), COUNTS[0]), await prepare(new Stage(stage.options), COUNTS[1])] as const;
  // Those that have run are disabled then, so they are listed before.
  const findings = [...(await arm(stage, sides)), ...(await list(stage, sides)), ...(await run(stage, sides))];
  for (const { people, gateway, provider } of sides) {
    for (const { connection } of people) connection.close();
    await Promise.all([gateway.stop(), provider.stop()]);
  }
  return findings;
}

async function arm(stage: Stage, sides: readonly [Side, Side]): Promise<Finding[]> {
  const floor = await sides[0].stage.floor("timers");
  const { seconds } = stage.options;
  const load = stage.load();
  const added = (pid: string): ((target: Target) => Job) => {
    const all = Array.from({ length: 64 }, (_, at) => makeSchedule(pid, at));
    return (target) => ({ do: "arm", target, schedules: all, inFlight: 8, seconds });
  };
  const [few, many, floors] = await stage.alternate([
    ...sides.map((side) => () => load.run(added(side.people[0]!.pid)(targetOf(side)))),
    () => load.run(added("p")(sides[0].stage.target(floor))),
  ]);
  const [fewChanged, manyChanged] = await stage.alternate(
    sides.map((side) => () => {
      const args = side.people[0]!.due.flatMap((id) =>
        ["0 7", "30 8"].map((hour) => ({
          id,
          patch: { expression: { kind: "cron", expr: `${hour} * ${FAR_MONTH} 1-5`, timezone: "UTC" } },
        })),
      );
      return load.run({ do: "pipeline", target: targetOf(side), call: "sched.update", args, inFlight: 8, seconds });
    }),
  );
  load.stop();
  await floor.stop();
  return [
    ...pair("sched.add and sched.remove", [few!, many!], floors!),
    ...pair("sched.update with another expression", [fewChanged!, manyChanged!], null),
  ];
}

async function run(stage: Stage, sides: readonly [Side, Side]): Promise<Finding[]> {
  const floor = await sides[0].stage.floor("timers");
  const burstTimes: number[] = [];
  const measureBurst = async (side: Side): Promise<Measure> => {
    const { cpuMs, recordedMs, deliveredMs, answeredMs } = await runDue(side);
    return { cpuMsPerCall: cpuMs / (PEOPLE * DUE_EACH), recordedMs, deliveredMs, answeredMs };
  };
  const [few, many, byHand, floors] = await stage.alternate(
    [() => measureBurst(sides[0]), () => measureBurst(sides[1]), () => sendByHand(sides[1]), () => runFloor(sides[0].stage, floor)],
    async () => {
      burstTimes.push(Date.now());
      const first = burstTimes.at(-BURSTS_PER_MINUTE);
      if (first !== undefined) await sleep(Math.max(0, first + MINUTE_MS - Date.now()));
    },
  );
  await floor.stop();
  const name = `${PEOPLE * DUE_EACH} due in the same second`;
  const beyond = { cpuMsPerCall: many!.cpuMsPerCall! - byHand!.cpuMsPerCall! };
  return [
    ...pair(name, [few!, many!], floors!),
    { bench: `${name}, beside the same messages sent by hand`, gateway: many!, floor: byHand!, ratio: null, goal: "", pass: null },
    { bench: `one run, beyond its message`, gateway: beyond, floor: floors!, ratio: null, goal: "", pass: null },
  ];
}

async function list(stage: Stage, sides: readonly [Side, Side]): Promise<Finding[]> {
  const load = stage.load();
  const roots = [await sides[0].stage.root(sides[0].gateway), await sides[1].stage.root(sides[1].gateway)] as const;
  const compare = async (name: string, call: string, argsOf: (side: Side) => Record<string, unknown>, isRoot = false) => {
    const accountOf = (at: 0 | 1) => (isRoot ? roots[at] : sides[at].people[0]!.account);
    const line = await sides[1].stage.line(sides[1].gateway, accountOf(1));
    const answer = await line.call(call, argsOf(sides[1]));
    line.close();
    const floor = await sides[0].stage.floor("bare", { [call]: answer });
    const job = (target: Target, args: Record<string, unknown>): Job => ({
      do: "pipeline",
      target,
      call,
      args: [args],
      inFlight: 1,
      seconds: stage.options.seconds,
    });
    const [few, many, floors] = await stage.alternate([
      ...([0, 1] as const).map((at) => () => load.run(job(sides[at].stage.target(sides[at].gateway, accountOf(at)), argsOf(sides[at])))),
      () => load.run(job(sides[0].stage.target(floor), {})),
    ]);
    await floor.stop();
    return pair(name, [few!, many!], floors!);
  };
  const findings = [
    ...(await compare("sched.list, a page of 10", "sched.list", () => ({ limit: 10 }))),
    ...(await compare(`sched.list of root, a page of ${PAGE}`, "sched.list", () => ({ limit: PAGE }), true)),
    // With 100 in all, a user has ten: the answer grows tenfold as well.
    ...withoutGoal(await compare(`sched.list, a page of ${PAGE} (10 with 100)`, "sched.list", () => ({ limit: PAGE }))),
    ...(await compare("sched.runs", "sched.runs", ({ people }) => ({ id: people[0]!.due[0]! }))),
  ];
  load.stop();
  return findings;
}

/** The two sizes; the ratio is of their processor time. */
function pair(name: string, [few, many]: [Measure, Measure], floor: Measure | null): Finding[] {
  const ratio = many.cpuMsPerCall! / few.cpuMsPerCall!;
  const named = (count: number) => `${name}, ${count.toLocaleString("en")} schedules`;
  return [
    { bench: named(COUNTS[0]), gateway: few, floor, ratio: 1, goal: "", pass: null },
    { bench: named(COUNTS[1]), gateway: many, floor, ratio, goal: `CPU <= ${GOAL}x that with ${COUNTS[0]}`, pass: ratio <= GOAL },
  ];
}

function withoutGoal(findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, goal: "", pass: null }));
}

/** Makes a hundred schedules due at one time, and reads from the ledger and the histories when each was run. */
async function runDue({ gateway, people }: Side): Promise<Burst> {
  const dueAt = Date.now() + LEAD_MS;
  const patch = { enabled: true, expression: { kind: "at" as const, atMs: dueAt } };
  await Promise.all(people.flatMap(({ connection, due }) => due.map((id) => connection.call("sched.update", { id, patch }))));
  await sleep(dueAt - 100 - Date.now());
  const before = exactCpuMs(gateway.pid);
  const readRuns = () =>
    Promise.all(
      people.flatMap(({ connection, due }) => due.map(async (id) => (await connection.call("sched.runs", { id, limit: 1 })).runs[0]!)),
    );
  let cpuMs = Number.NaN;
  let runs: Awaited<ReturnType<typeof readRuns>> = [];
  for (let windows = 1; ; windows++) {
    await sleep(dueAt + windows * WINDOW_MS - Date.now());
    cpuMs = exactCpuMs(gateway.pid) - before;
    runs = await readRuns();
    const ended = runs.filter(({ status, dueAtMs }) => dueAtMs === dueAt && status === "ok").length;
    if (ended === runs.length) break;
    if (windows === WINDOWS_MAX) throw new Error(`Only ${ended} of ${runs.length} runs have ended well`);
  }
  const histories = await Promise.all(
    people.map(({ connection, pid }) => connection.call("proc.history", { pid, tail: true, limit: 100 })),
  );
  const messages = histories.flatMap((history) =>
    history.messages.filter(
      ({ role, timestamp, content }) => role !== "assistant" && timestamp >= dueAt && String(content).includes("has fired"),
    ),
  );
  if (messages.length !== runs.length) throw new Error(`${runs.length} runs have left ${messages.length} messages`);
  const lastOf = (moments: number[]) => Math.max(...moments) - dueAt;
  return {
    cpuMs,
    recordedMs: lastOf(runs.map(({ startedAtMs }) => startedAtMs)),
    deliveredMs: lastOf(messages.map(({ timestamp }) => timestamp)),
    answeredMs: lastOf(runs.map(({ finishedAtMs }) => finishedAtMs!)),
  };
}

/** The same number of messages to the same processes, without schedules. */
async function sendByHand({ gateway, people }: Side): Promise<Measure> {
  const message = 'Schedule "bench" has fired.\n\nLook whether there is something to do.';
  let open = PEOPLE * DUE_EACH;
  let answeredAt = 0;
  const before = exactCpuMs(gateway.pid);
  const startedAt = Date.now();
  for (const { connection, pid } of people) {
    connection.onSignal = ({ signal }) => {
      if (signal === "proc.run.finished" && --open === 0) answeredAt = Date.now();
    };
    for (let at = 0; at < DUE_EACH; at++) connection.call("proc.send", { pid, message }).catch(() => {});
  }
  const isDone = () => open === 0;
  await sleep(WINDOW_MS);
  for (let windows = 1; windows < WINDOWS_MAX && !isDone(); windows++) await sleep(WINDOW_MS);
  const cpuMs = exactCpuMs(gateway.pid) - before;
  for (const { connection } of people) connection.onSignal = () => {};
  if (!isDone()) throw new Error(`${open} messages were not answered`);
  return { cpuMsPerCall: cpuMs / (PEOPLE * DUE_EACH), answeredMs: answeredAt - startedAt };
}

async function runFloor(stage: Stage, floor: Server): Promise<Measure> {
  // Closed before it pings, which a floor does not know.
  const connection = await stage.line(floor);
  const count = PEOPLE * DUE_EACH;
  const dueAt = Date.now() + 1_000;
  const schedule = { ...makeSchedule("p", 0), expression: { kind: "at" as const, atMs: dueAt } };
  await Promise.all(Array.from({ length: count }, () => connection.call("sched.add", schedule as never)));
  await sleep(dueAt - 100 - Date.now());
  const before = exactCpuMs(floor.pid);
  await sleep(1_000);
  const cpuMs = exactCpuMs(floor.pid) - before;
  const { lastAt } = (await connection.call("floor.fired", {})) as { lastAt: number };
  connection.close();
  return { cpuMsPerCall: cpuMs / count, recordedMs: lastAt - dueAt };
}

async function prepare(stage: Stage, count: number): Promise<Side> {
  const first = await stage.gateway();
  const accounts = await stage.people(first, PEOPLE);
  const homes: { pid: string; due: string[] }[] = [];
  for (const account of accounts) {
    const connection = await stage.line(first, account);
    const { pid } = await connection.call("proc.spawn", { profile: "task", label: "schedules" });
    const due: string[] = [];
    await inTurns(0, count / PEOPLE, AT_ONCE, async (at) => {
      const { schedule } = await connection.call("sched.add", makeSchedule(pid, at) as never);
      if (at < DUE_EACH) due.push(schedule.id);
    });
    homes.push({ pid, due });
    connection.close();
  }
  await first.stop();
  addRuns(join(stage.home, "kernel.db"));
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const people: Person[] = [];
  for (const [at, account] of accounts.entries()) people.push({ account, ...homes[at]!, connection: await stage.line(gateway, account) });
  return { stage, gateway, provider, people };
}

/** A schedule as people have them: an hour of some day, an interval of weeks, or a date. None is due soon. */
function makeSchedule(pid: string, at: number) {
  const timezone = ZONES[at % ZONES.length]!;
  const far = Date.now() + (100 + (at % 100)) * DAY_MS;
  const expression =
    at % 10 === 8
      ? { kind: "every", everyMs: (20 + (at % 60)) * DAY_MS }
      : at % 10 === 9
        ? { kind: "at", atMs: far }
        : { kind: "cron", expr: `${at % 60} ${at % 24} ${1 + (at % 28)} ${FAR_MONTH} *`, timezone };
  const message = "Look whether there is something to do.";
  return { name: `Schedule ${at}`, description: "One of many.", expression, target: { kind: "process.event", pid, message } };
}

/** Gives each schedule runs in the past, one a day. */
function addRuns(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("BEGIN");
  database
    .prepare(
      `INSERT INTO schedule_runs (run_id, schedule_id, uid, due_at, is_forced, started_at, finished_at, state, summary, pid, missed)
       WITH RECURSIVE days (day) AS (SELECT 1 UNION ALL SELECT day + 1 FROM days WHERE day < ?2)
       SELECT lower(hex(randomblob(16))), schedule_id, uid, ?1 - day * ?3, 0, ?1 - day * ?3 + 4, ?1 - day * ?3 + 2000, 'ok',
         'Nothing had to be done.', target ->> 'pid', 0 FROM schedules, days`,
    )
    .run(Date.now(), RUNS_EACH, DAY_MS);
  database.exec("COMMIT");
  database.close();
}

function targetOf({ stage, gateway, people }: Side): Target {
  return stage.target(gateway, people[0]!.account);
}
