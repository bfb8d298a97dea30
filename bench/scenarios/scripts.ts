// Scripts (codemode.run and CodeMode) beside the bare engine in one thread: a script that only adds, one that reads a file a hundred
// times, the first script after a start, and what a thousand of them leave in memory. A call of a script is compared with the same call
// of a client.

import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { rssKb } from "../proc.ts";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Measure, middle } from "../stats.ts";
import { readsInScript, textOf } from "../text.ts";

const ADD = "return 1 + 1";
const READS = 100;
const RUNS = 1_000;
const WARM_RUNS = 100;
const SETTLE_MS = 2_000;
const GOAL_MS = 5;
const GOAL_NESTED = 1.5;
const GOAL_GROWTH = 1.1;

export async function scripts(stage: Stage): Promise<Finding[]> {
  const { seconds } = stage.options;
  await (await stage.gateway()).stop();
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const connection = await stage.line(gateway);
  await connection.call("fs.write", { path: "~/f", content: textOf(0, 256) });
  const run = async (code: string) => {
    const done = await connection.call("codemode.run", { code });
    if (done.status !== "completed") throw new Error(JSON.stringify(done));
  };
  const findings: Finding[] = [];
  const startedAt = performance.now();
  await run(ADD);
  const p50Ms = performance.now() - startedAt;
  findings.push({ bench: `codemode.run ${ADD}, first after a start`, gateway: { p50Ms }, floor: null, ratio: null, goal: "", pass: null });

  const megabytesAfter = async (count: number) => {
    for (let at = 0; at < count; at++) await run(ADD);
    await sleep(SETTLE_MS);
    return rssKb(gateway.pid) / 1024;
  };
  const before = await megabytesAfter(WARM_RUNS);
  const after = await megabytesAfter(RUNS);
  findings.push({
    bench: `memory after ${RUNS} scripts`,
    gateway: { rssMb: after },
    floor: { rssMb: before },
    ratio: after / before,
    goal: `<= ${GOAL_GROWTH}x that before`,
    pass: after / before <= GOAL_GROWTH,
  });

  const wasm = join(dirname(stage.program), "quickjs.wasm");
  const engine = (script: string) => stage.alone({ work: "engine", wasm, script, seconds });
  const floors: Record<"add" | "reads", Measure[]> = { add: [], reads: [] };
  const measure = async (call: string, args: Record<string, unknown>, between?: () => Promise<void>) => {
    const job = { do: "pipeline" as const, call, args: [args], inFlight: 1, seconds };
    const [one] = await stage.compare([gateway], (target) => ({ ...job, target }), between);
    return one!;
  };
  const add = await measure("codemode.run", { code: ADD }, async () => {
    floors.add.push(await engine(ADD));
    floors.reads.push(await engine(`let size = 0; for (let at = 0; at < ${READS}; at++) size += (await read("f")).length; return size;`));
  });
  const reads = await measure("codemode.run", { code: readsInScript(READS) });
  const direct = await measure("fs.read", { path: "~/f" });
  const [addFloor, readsFloor] = [middle(floors.add), middle(floors.reads)];
  findings.push({
    bench: `codemode.run ${ADD}`,
    gateway: add,
    floor: addFloor,
    ratio: add.p50Ms! / addFloor.p50Ms!,
    goal: `p50 <= ${GOAL_MS} ms`,
    pass: add.p50Ms! <= GOAL_MS,
  });
  findings.push({
    bench: `codemode.run with ${READS} fs.read, one after the other`,
    gateway: reads,
    floor: readsFloor,
    ratio: reads.p50Ms! / readsFloor.p50Ms!,
    goal: "",
    pass: null,
  });
  const nested = (one: Measure, ofNone: Measure, bench: string) => {
    const gatewayMs = { p50Ms: (one.p50Ms! - ofNone.p50Ms!) / READS };
    const ratio = gatewayMs.p50Ms / direct.p50Ms!;
    findings.push({
      bench,
      gateway: gatewayMs,
      floor: direct,
      ratio,
      goal: `<= ${GOAL_NESTED}x of a client's`,
      pass: ratio <= GOAL_NESTED,
    });
  };
  nested(reads, add, "one fs.read of a person's script / of a client");

  // Each in a process of its own, and for about as many turns: a turn takes longer the more was said before.
  const turn = async (count: number, share: number) => {
    const { pid } = await connection.call("proc.spawn", { profile: "task", label: `bench scripts ${count}` });
    const job = { do: "turns" as const, pids: [pid], message: `script ${count}`, seconds: seconds * share };
    const [one] = await stage.compare([gateway], (target) => ({ ...job, target }));
    return one!;
  };
  const [empty, full] = [await turn(0, 0.3), await turn(READS, 1)];
  findings.push({ bench: "turn with an empty script", gateway: empty, floor: null, ratio: null, goal: "", pass: null });
  findings.push({ bench: `turn with a script of ${READS} fs.read`, gateway: full, floor: null, ratio: null, goal: "", pass: null });
  nested(full, empty, "one fs.read of an agent's script / of a client");

  connection.close();
  await Promise.all([gateway.stop(), provider.stop()]);
  return findings;
}
