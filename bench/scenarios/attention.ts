// Whether a user's watches and unread notifications slow down what has nothing to do with them: a connection, and a turn of a process,
// each of whose events is compared with the watches. Two gateways, one of them without any.

import type { Connection } from "../../src/client/connection.ts";
import { WATCHED_SIGNALS } from "../../src/protocol/signal-names.ts";
import type { Server } from "../children.ts";
import { exactCpuMs } from "../proc.ts";
import type { Finding } from "../report.ts";
import { Stage } from "../stage.ts";
import { type Measure, percentile } from "../stats.ts";
import { inTurns } from "../text.ts";

type Side = { stage: Stage; gateway: Server; provider: Server; connection: Connection };

/** A user may have a thousand; a few are added for single turns. */
const WATCHES = 990;
const NOTIFICATIONS = 10_000;
const AT_ONCE = 32;
const CREATED = 100;
const COUNTED_TURNS = 20;
const GOAL = 1.1;
const MONTH_MS = 30 * 24 * 60 * 60 * 1000;
const PROMPT = "hello there";

export async function attention(stage: Stage): Promise<Finding[]> {
  const sides = [await prepare(new Stage(stage.options)), await prepare(new Stage(stage.options))] as const;
  await fill(sides[0].connection);
  const { seconds } = stage.options;
  const load = stage.load();
  const alternate = (measure: (side: Side) => Promise<Measure>) => stage.alternate(sides.map((side) => () => measure(side)));
  const connects = await alternate((side) => load.run({ do: "connect", target: side.stage.target(side.gateway), atOnce: 1, seconds }));
  const turns = await alternate(async (side) => {
    // A new one for every round: a long conversation takes longer.
    const { pid } = await side.connection.call("proc.spawn", { profile: "task", label: "attention" });
    const job = { do: "turns" as const, target: side.stage.target(side.gateway), pids: [pid], message: PROMPT };
    await load.run({ ...job, seconds: 0.1 });
    const measure = await load.run({ ...job, seconds });
    return { ...measure, eventsPerCall: await countEvents(side, pid) };
  });
  const watched = await alternate(runWatchedTurns);
  const creates = await alternate(createNotifications);
  load.stop();
  for (const { connection, gateway, provider } of sides) {
    connection.close();
    await Promise.all([gateway.stop(), provider.stop()]);
  }
  const [many, none] = turns;
  const added = { cpuMsPerCall: (many!.cpuMsPerCall! - none!.cpuMsPerCall!) / many!.eventsPerCall! };
  const whole = { cpuMsPerCall: none!.cpuMsPerCall! / none!.eventsPerCall! };
  return [
    finding("connect", connects, (one) => one.p50Ms!, `p50 <= ${GOAL}x without`),
    finding("turn, words alone", turns, (one) => one.p50Ms!, `p50 <= ${GOAL}x without`),
    {
      bench: `${WATCHES.toLocaleString("en")} watches, for each event of a turn`,
      gateway: added,
      floor: whole,
      ratio: null,
      goal: "",
      pass: null,
    },
    finding("turn that a watch waits for, and that of the process it tells", watched, (one) => one.cpuMsPerCall!, ""),
    finding("notification.create", creates, (one) => one.cpuMsPerCall!, ""),
  ];
}

function finding(name: string, [many, none]: Measure[], figure: (measure: Measure) => number, goal: string): Finding {
  const bench = `${name}, ${WATCHES.toLocaleString("en")} watches and ${NOTIFICATIONS.toLocaleString("en")} notifications / none`;
  const ratio = figure(many!) / figure(none!);
  return { bench, gateway: many!, floor: none!, ratio, goal, pass: goal === "" ? null : ratio <= GOAL };
}

async function prepare(stage: Stage): Promise<Side> {
  const gateway = await stage.gateway();
  return { stage, gateway, provider: await stage.provider(gateway), connection: await stage.line(gateway) };
}

/** The watches wait for every signal that a turn emits, from a process that is silent. */
async function fill(connection: Connection): Promise<void> {
  const [told, silent] = [await spawn(connection, "told"), await spawn(connection, "silent")];
  const signals = [...WATCHED_SIGNALS];
  await inTurns(0, WATCHES, AT_ONCE, async (at) => {
    const watch = { signal: signals[at % signals.length]!, pid: told, processId: silent, key: `watch ${at}`, state: { step: at } };
    await connection.call("signal.watch", { ...watch, ttlMs: MONTH_MS });
  });
  await inTurns(0, NOTIFICATIONS, AT_ONCE, async (at) => void (await connection.call("notification.create", makeNotification(at))));
}

async function spawn(connection: Connection, label: string): Promise<string> {
  return (await connection.call("proc.spawn", { profile: "task", label })).pid;
}

async function countEvents({ connection }: Side, pid: string): Promise<number> {
  let events = 0;
  let finished = () => {};
  connection.onSignal = ({ signal, seq }) => {
    if (seq !== undefined && WATCHED_SIGNALS.has(signal)) events++;
    if (signal === "chat.complete") finished();
  };
  await connection.call("proc.subscribe", { pid });
  for (let turn = 0; turn < COUNTED_TURNS; turn++) {
    const ended = new Promise<void>((resolve) => (finished = resolve));
    await connection.call("proc.send", { pid, message: PROMPT });
    await ended;
  }
  connection.onSignal = () => {};
  return events / COUNTED_TURNS;
}

/** With two new processes: one watches for the end of the other's turn, and works when it has come. */
async function runWatchedTurns({ connection, gateway }: Side): Promise<Measure> {
  const [watcher, source] = [await spawn(connection, "watcher"), await spawn(connection, "source")];
  let told = () => {};
  connection.onSignal = ({ signal, payload }) => {
    if (signal === "chat.complete" && payload.pid === watcher) told();
  };
  await connection.call("proc.subscribe", { pid: watcher });
  const samples: number[] = [];
  const before = exactCpuMs(gateway.pid);
  for (let turn = 0; turn < COUNTED_TURNS; turn++) {
    const startedAt = performance.now();
    const ended = new Promise<void>((resolve) => (told = resolve));
    await connection.call("signal.watch", { signal: "proc.run.finished", pid: watcher, processId: source });
    await connection.call("proc.send", { pid: source, message: PROMPT });
    await ended;
    samples.push(performance.now() - startedAt);
  }
  const cpuMsPerCall = (exactCpuMs(gateway.pid) - before) / COUNTED_TURNS;
  connection.onSignal = () => {};
  return { p50Ms: percentile(samples, 0.5), cpuMsPerCall };
}

/** One after the other, and few: they stay. */
async function createNotifications({ connection, gateway }: Side): Promise<Measure> {
  const before = exactCpuMs(gateway.pid);
  const samples: number[] = [];
  for (let at = 0; at < CREATED; at++) {
    const startedAt = performance.now();
    await connection.call("notification.create", makeNotification(at));
    samples.push(performance.now() - startedAt);
  }
  return { p50Ms: percentile(samples, 0.5), cpuMsPerCall: (exactCpuMs(gateway.pid) - before) / CREATED };
}

function makeNotification(at: number) {
  return {
    title: `Notification ${at}`,
    body: "The backup is done: 1,204 files, 3.1 GB.",
    actions: [{ kind: "open", label: "Open", target: "/files" }],
  };
}
