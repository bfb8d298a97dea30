// trust:fair. One user does each kind of expensive work at full speed; another user's small calls and turns take hardly longer
// than without it. `--seconds N` for how long each is measured, `--all` for every kind, `--only text` for those whose name
// contains it, `--strict` for the limits that hold on a quiet machine. The last line is the result.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { connect, Connection } from "../../src/client/client.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { BUILD } from "../support/current-build.ts";
import { ALICE, ROOT } from "../support/people.ts";
import { Cli, killEverything, residentBytes, type Started } from "../support/processes.ts";
import { Bar, flag, numberFlag } from "./bar.ts";
import { ATTACKS, open, type Tally, type Target } from "./fair/attacks.ts";
import { order } from "./fair/order.ts";
import { ask, quantile, type Times } from "./fair/patient.ts";

const MALLORY = { username: "mallory", password: "slow down others" };
const seconds = numberFlag("seconds", 1);
const only = flag("only");
const isAll = process.argv.includes("--all");
const isStrict = process.argv.includes("--strict");
/** A wait that nobody notices, and by which factor a call may take longer than alone. */
const UNNOTICED_MS = 50;
const SLOWDOWN_MAX = 3;
/** The factor for a machine with other load: without fair shares, calls take hundreds of times as long. */
const LOOSE_FACTOR = 40;
const GROWTH_BYTES_MAX = 512 * 1024 * 1024;
const SAMPLE_MS = 50;
/** Calls that may have been in progress when the time was taken. */
const SLACK = 5;
/** Attackers stand for remote machines: they must not take CPU time from a gateway that is measured. */
const ATTACKER_NICENESS = isStrict ? 19 : 0;

const bar = new Bar("trust:fair");
const scratch = mkdtempSync(join(tmpdir(), "gsv-fair-"));
const children = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void clean().then(() => process.exit(1)));
try {
  await run();
} finally {
  await clean();
}
bar.end();

async function clean(): Promise<void> {
  for (const child of children) child.kill("SIGKILL");
  await killEverything();
  rmSync(scratch, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const gateway = await new Cli(BUILD, join(scratch, "user")).startUntil(
    ["up", "--home", join(scratch, "home"), "--port", "0"],
    /GSV is up at/,
  );
  const url = /GSV is up at (\S+)/.exec(gateway.output())![1]!;
  await populate(url);
  const [alice, mallory] = [await targetOf(url, ALICE), await targetOf(url, MALLORY)];
  const calls = await open(alice, "calls");
  const turns = await open(alice, "turns");
  await calls.call("fs.write", { path: "~/small.txt", content: "a small file\n" });
  // With a new process each time: a long history makes turns slower, whatever others do.
  const measureCalls = async (ms: number) => {
    const { pid } = await turns.call("proc.spawn", { profile: "task", label: "patient" });
    return ask({ calls, turns, pid }, ms);
  };
  await measureCalls(500);
  const alone = await measureCalls(2_000);
  report("alone", alone);
  if (only === undefined) await order(bar, alice, mallory);
  for (const { name, isExtra, isExpensive } of ATTACKS) {
    if (only === undefined ? isExtra === true && !isAll : !name.includes(only)) continue;
    const attacker = await prepareAttacker(name, mallory);
    const before = residentBytes(gateway.pid);
    const memory = watchMemory(gateway);
    const startedAt = performance.now();
    attacker.send("begin");
    const under = await measureCalls(seconds * 1000);
    const tally = await endAttack(attacker);
    const most = LIMITS.expensiveCallsAtOnce + (LIMITS.expensiveCallsPerSecond * (performance.now() - startedAt)) / 1000 + SLACK;
    if (isExpensive === true)
      bar.check(
        "held to its rate",
        tally.answered <= most,
        () => `${name}: ${tally.answered} were done, at most ${most.toFixed(0)} may be`,
      );
    judge(name, alone, under, tally, memory.end() - before);
  }
}

function judge(name: string, alone: Times, under: Times, tally: Tally, grownBytes: number): void {
  report(name, under, tally, grownBytes);
  for (const kind of Object.keys(under) as (keyof Times)[]) {
    const limit = Math.max(UNNOTICED_MS, SLOWDOWN_MAX * quantile(alone[kind], 0.99)) * (isStrict ? 1 : LOOSE_FACTOR);
    const took = quantile(under[kind], 0.99);
    bar.check("quick for others", took <= limit, () => `${kind} took ${took.toFixed(0)} ms beside ${name}, at most ${limit.toFixed(0)}`);
  }
  bar.check("not cut off", tally.cut === 0, () => `${name}: ${tally.cut} cut off: ${tally.errors.join("; ")}`);
  bar.check("nothing fails", tally.failed === 0, () => `${name}: ${tally.failed} failed: ${tally.errors.join("; ")}`);
  if (name.startsWith("followers"))
    bar.check("pieces joined", tally.joined > 0, () => `${name}: each of ${tally.answered} pieces was sent by itself`);
  bar.check("carried out", tally.answered > 0, () => `${name}: nothing was done for whoever asked too much`);
  bar.check("within its memory", grownBytes <= GROWTH_BYTES_MAX, () => `${name}: grew by ${Math.round(grownBytes / 2 ** 20)} MB`);
}

function report(name: string, times: Times, tally?: Tally, grownBytes?: number): void {
  const shown = Object.entries(times).map(
    ([kind, list]) => `${kind} p50 ${quantile(list, 0.5).toFixed(1)} p99 ${quantile(list, 0.99).toFixed(1)} of ${list.length}`,
  );
  const became =
    tally &&
    `${tally.answered} done, ${tally.refused} refused, ${tally.failed} failed, ${tally.cut} cut, slowest ${tally.slowestMs.toFixed(0)} ms`;
  const grew = grownBytes === undefined ? "" : `; grew ${Math.round(grownBytes / 2 ** 20)} MB`;
  console.error(`${name}: ${shown.join(", ")}${became === undefined ? "" : `; ${became}`}${grew}`);
}

async function populate(url: string): Promise<void> {
  const connection = await Connection.open(url);
  await connection.call("sys.setup", { ...ALICE, rootPassword: ROOT.password });
  connection.close();
  const root = await connect({ url, auth: ROOT, reconnect: false });
  await root.call("sys.user.create", MALLORY);
  const provider = start("provider.ts", []);
  const [port] = (await once(provider, "message")) as [number];
  const settings = { provider: "openai-compatible", base_url: `http://127.0.0.1:${port}/v1`, model: "scripted", api_key: "none" };
  for (const [name, value] of Object.entries(settings)) await root.call("sys.config.set", { key: `config/ai/${name}`, value });
  root.close();
}

async function targetOf(url: string, auth: { username: string; password: string }): Promise<Target> {
  const client = await connect({ url, auth, reconnect: false });
  const { token } = (await client.call("sys.token.create", { kind: "user" })).token;
  client.close();
  return { url, ...auth, token };
}

function start(file: string, args: readonly string[]): ChildProcess {
  const child = fork(join(import.meta.dirname, "fair", file), args, { execPath: process.execPath });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

async function prepareAttacker(name: string, target: Target): Promise<ChildProcess> {
  const child = start("attacker.ts", [JSON.stringify({ name, target })]);
  setPriority(child.pid!, ATTACKER_NICENESS);
  await once(child, "message");
  return child;
}

async function endAttack(attacker: ChildProcess): Promise<Tally> {
  const message = once(attacker, "message") as Promise<[Tally]>;
  attacker.send("end");
  const [tally] = await message;
  return tally;
}

function watchMemory(gateway: Started): { end(): number } {
  let most = 0;
  const sample = () => (most = Math.max(most, residentBytes(gateway.pid)));
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    end() {
      clearInterval(timer);
      sample();
      return most;
    },
  };
}
