// trust:shell. While one user runs commands that never end or take all they can get, others are answered as before: compares
// their times with those of an idle gateway in the same run and its memory with that when warm, and checks how each culprit ends.
// Also that a command outlives its socket but not its login. `--all 1` for every culprit, `--only text` for some, `--rounds N`
// for more samples, `--strict 1` to fail by times instead of only printing them: with other load on the machine they say little.

import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, ftruncateSync, closeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Bar, flag, numberFlag } from "./bar.ts";
import { type Auth, CallError, type Calls, connect, type Client } from "../../src/client/client.ts";
import { BUILD } from "../support/current-build.ts";
import { Gateway, killAll } from "./crash/gateway.ts";
import { FIRST, populate, setUp } from "./crash/world.ts";
import { type Culprit, CULPRITS } from "./shell/culprits.ts";

type Answer = Calls["shell.exec"]["result"];
type Times = Record<string, number[]>;
type Callers = { other: Client; same: Client };

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const TIMEOUT_MS = 3_000;
/** How long ending a thread may take on top of that. */
const END_MS = 30_000;
const GROWTH_BYTES_MAX = 64 * MIB;
const SLOWER_MAX = 3;
const FLOOR_MS = 25;
const IDLE_SAMPLES = 60;
const GAP_MS = 15;
/** After this a call answers that its command still runs. */
const WAIT_MS = 400;
const THREADS_PER_USER = 4;
/** Files as large as a command accepts. */
const FITS_BYTES = 15 * MIB;
/** A culprit may slow its own answers without failing the test. */
const PATIENT_OPTIONS = { timeoutMs: 60_000 };

const rounds = numberFlag("rounds", 1);
const only = flag("only") ?? "";
const isAll = only !== "" || numberFlag("all", 0) === 1;
const isStrict = numberFlag("strict", 0) === 1;
const bar = new Bar("trust:shell");
process.umask(0o077);
const scratch = mkdtempSync(join(tmpdir(), "gsv-shell-"));
const home = join(scratch, "home");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void killAll().then(() => process.exit(1)));

try {
  await run();
} catch (error) {
  bar.check("harness", false, () => String(error instanceof Error ? error.stack : error));
}
await killAll();
rmSync(scratch, { recursive: true, force: true });
bar.end();

async function run(): Promise<void> {
  mkdirSync(home);
  const first = new Gateway(BUILD, home);
  const url = await addressOf(first);
  await setUp(url);
  await populate(url);
  await first.stop(30_000);
  placeHuge("/home/w1/big", GIB);
  const gateway = new Gateway(BUILD, home);
  try {
    await runChecks(await addressOf(gateway), gateway);
  } finally {
    bar.check("alive", !gateway.isOver, () => `the gateway ended: ${gateway.complaint}`);
    await gateway.kill();
  }
}

async function runChecks(url: string, gateway: Gateway): Promise<void> {
  const culprit = await enter(url, "w1");
  const callers: Callers = { other: await enter(url, "w2"), same: await enter(url, "w1") };
  await culprit.call(
    "shell.exec",
    { input: `mkdir -p many; for i in 1 2 3; do seq 1 ${Math.floor(FITS_BYTES / 24)} >> fits; done` },
    PATIENT_OPTIONS,
  );
  for (const client of [callers.other, callers.same]) await client.call("fs.write", { path: "~/small", content: "small\n" });
  await sample(callers, IDLE_SAMPLES / 2);
  // Starts all threads that a user may have.
  await Promise.all(Array.from({ length: THREADS_PER_USER }, () => runToEnd(culprit, "sleep 1")));
  const idle = await sample(callers, IDLE_SAMPLES);
  const warm = rssOf(gateway);
  bar.numbers.idleP99Ms = text(idle);
  for (const wanted of CULPRITS.filter(({ name, isQuick }) => name.includes(only) && (isAll || isQuick)))
    await checkCulprit(culprit, callers, gateway, wanted, idle, warm);
  await checkLargeFiles(culprit, callers, gateway, idle);
  const root = await connect({ url, auth: { username: "root", password: FIRST.rootPassword }, reconnect: false });
  await root.call("sys.config.set", { key: "config/shell/wait_ms", value: String(WAIT_MS) });
  await checkOutlivesSocket(url);
  await checkEndsWithLogin(url, root);
  root.close();
  for (const client of [culprit, callers.other, callers.same]) client.close();
}

async function checkCulprit(client: Client, callers: Callers, gateway: Gateway, wanted: Culprit, idle: Times, warm: number): Promise<void> {
  const { name, input, ends, times = 1 } = wanted;
  const slower: number[] = [];
  let worst: Times = {};
  const before = rssOf(gateway);
  let peak = before;
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    const running = Promise.all(Array.from({ length: times }, () => runToEnd(client, input)));
    const { value: answers, during, peak: highest } = await watchDuring(running, callers, gateway);
    peak = Math.max(peak, highest);
    const tookMs = performance.now() - startedAt;
    bar.check("ends in time", tookMs < (TIMEOUT_MS + END_MS) * Math.max(1, times / 4), () => `${name}: after ${Math.round(tookMs)} ms`);
    const output = answers.map((answer) => ("error" in answer ? answer.error : "") + answer.output.slice(-2_000)).join("\n");
    bar.check("says why", ends === null || ends.test(output), () => `${name}: ${output.slice(-300)}`);
    worst = during;
    // A user who runs as many commands as there are threads waits for one of them; others do not.
    if (times > 1) delete during["same echo"];
    slower.push(ratio(during, idle));
  }
  bar.check(
    "answers others",
    Object.values(worst).every((list) => list.every(Number.isFinite)),
    () => `${name}: ${text(worst)}`,
  );
  // All threads of a user together take more than one of them.
  const most = times > 1 ? 2 * GROWTH_BYTES_MAX : GROWTH_BYTES_MAX;
  bar.check("memory", peak - before < most, () => `${name}: ${Math.round((peak - before) / MIB)} MiB more than before`);
  const median = slower.toSorted((a, b) => a - b)[Math.floor(slower.length / 2)] ?? 0;
  console.error(`${name}: ${median.toFixed(1)} x idle, p99 ms ${text(worst)}, ${Math.round((peak - before) / MIB)} MiB more`);
  if (isStrict) bar.check("times", median <= SLOWER_MAX, () => `${name}: ${median.toFixed(1)} times as slow: ${text(worst)}`);
  bar.numbers.slowestRatio = Math.max(Number(bar.numbers.slowestRatio ?? 0), Number(median.toFixed(2)));
  bar.numbers.overWarmMiB = Math.max(Number(bar.numbers.overWarmMiB ?? 0), Math.round((peak - warm) / MIB));
  bar.numbers.growthMiB = Math.max(Number(bar.numbers.growthMiB ?? 0), Math.round((peak - before) / MIB));
}

/** Calls that read files themselves. */
async function checkLargeFiles(client: Client, callers: Callers, gateway: Gateway, idle: Times): Promise<void> {
  for (const [name, call] of [
    ["fs.read of 1 GiB", () => client.call("fs.read", { path: "~/big" }, PATIENT_OPTIONS)],
    ["fs.read of the end of 1 GiB", () => client.call("fs.read", { path: "~/big", offset: 1_000_000, limit: 10 }, PATIENT_OPTIONS)],
    ["fs.search in 1 GiB", () => client.call("fs.search", { path: "~/big", query: "x" }, PATIENT_OPTIONS)],
  ] as const) {
    if (!name.includes(only)) continue;
    const warm = rssOf(gateway);
    const running = call().then(
      () => "answered",
      (error: unknown) => (error instanceof CallError ? `${error.code} ${error.message}` : `lost: ${String(error)}`),
    );
    const { value: answer, during, peak } = await watchDuring(running, callers, gateway);
    bar.check("large files", !answer.startsWith("lost"), () => `${name}: ${answer}`);
    bar.check("memory", peak - warm < GROWTH_BYTES_MAX, () => `${name}: ${Math.round((peak - warm) / MIB)} MiB more than before`);
    console.error(
      `${name}: ${ratio(during, idle).toFixed(1)} x idle, ${text(during)}, ${Math.round((peak - warm) / MIB)} MiB more: ${answer}`,
    );
    if (isStrict) bar.check("times", ratio(during, idle) <= SLOWER_MAX, () => `${name}: ${text(during)}`);
  }
}

/** A command continues after its socket closed, and its user finds it again from another. */
async function checkOutlivesSocket(url: string): Promise<void> {
  const starter = await enter(url, "w3");
  const running = await starter.call("shell.exec", { input: "sleep 1.5; echo late", timeout: 20_000 }, PATIENT_OPTIONS);
  const sessionId = "sessionId" in running ? (running.sessionId ?? "") : "";
  starter.close();
  const stranger = await enter(url, "w2");
  const foreign = await stranger.call("shell.exec", { input: "", sessionId }, PATIENT_OPTIONS).then(
    (answer) => answer.status,
    () => "refused",
  );
  bar.check("its owner's alone", foreign !== "running" && foreign !== "completed", () => foreign);
  stranger.close();
  const again = await enter(url, "w3");
  const poll = () => again.call("shell.exec", { input: "", sessionId }, PATIENT_OPTIONS);
  let polled = await poll();
  let output = polled.output;
  while (polled.status === "running") {
    polled = await poll();
    output += polled.output;
  }
  bar.check("outlives its socket", polled.status === "completed" && output.includes("late"), () => JSON.stringify([running, polled]));
  again.close();
}

/** A command whose login has ended can do nothing more: files, calls and the network are authorized each time. */
async function checkEndsWithLogin(url: string, root: Client): Promise<void> {
  for (const how of ["token", "lock"] as const) {
    const username = how === "token" ? "w2" : "w3";
    const { uid } = (await root.call("sys.user.list", {})).users.find((user) => user.username === username)!;
    const { token } = (await root.call("sys.token.create", { kind: "user", uid, label: "shell" })).token;
    const { tokenId } = (await root.call("sys.token.list", { uid })).tokens.find(({ label }) => label === "shell")!;
    const client = await connect({ url, auth: { username, token }, reconnect: false });
    const input = "i=0; while true; do i=$((i+1)); echo $i > ~/ticks || echo refused; sleep 0.05; done";
    // The call has returned a session: a command whose caller disconnects before that ends with the call.
    const { status } = await client.call("shell.exec", { input, timeout: 20_000 }, PATIENT_OPTIONS);
    const ticks = async () => {
      const read = await root.call("fs.read", { path: `/home/${username}/ticks` });
      return read.ok && "content" in read ? JSON.stringify(read.content) : "none";
    };
    const first = await ticks();
    await pollUntil(async () => (await ticks()) !== first);
    bar.check("runs before", status === "running" && (await ticks()) !== first, () => `${how}: ${status}, ${first}`);
    if (how === "token") await root.call("sys.token.revoke", { tokenId });
    else await root.call("sys.user.lock", { username, locked: true });
    const before = await ticks();
    await pause(600);
    const after = await ticks();
    bar.check("ends with its login", before === after && before !== "none", () => `${how}: wrote ${before} then ${after}`);
    client.close();
  }
}

async function runToEnd(client: Client, input: string): Promise<Answer> {
  try {
    let answer = await client.call("shell.exec", { input, timeout: TIMEOUT_MS }, PATIENT_OPTIONS);
    while (answer.status === "running")
      answer = await client.call("shell.exec", { input: "", sessionId: answer.sessionId }, PATIENT_OPTIONS);
    return answer;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { status: "failed", error: error.message, output: "" };
  }
}

/** Samples the times of others and the gateway's memory until it is over. */
async function watchDuring<T>(running: Promise<T>, callers: Callers, gateway: Gateway): Promise<{ value: T; during: Times; peak: number }> {
  const during: Times = {};
  const over = running.then(
    () => true,
    () => true,
  );
  let peak = 0;
  do {
    merge(during, await sample(callers, 1));
    peak = Math.max(peak, rssOf(gateway));
  } while (!(await Promise.race([over, pause(0).then(() => false)])));
  return { value: await running, during, peak };
}

async function sample({ other, same }: Callers, times: number): Promise<Times> {
  const found: Times = {};
  const time = async (name: string, call: () => Promise<unknown>) => {
    const startedAt = performance.now();
    // A user at the limit of commands is refused at once, which is an answer too.
    await call().catch((error: unknown) => {
      if (!(error instanceof CallError) || error.code !== 429) throw error;
    });
    (found[name] ??= []).push(performance.now() - startedAt);
  };
  for (let at = 0; at < times; at++) {
    for (const [who, client] of [
      ["other", other],
      ["same", same],
    ] as const) {
      await time(`${who} info`, () => client.call("sys.info", {}, PATIENT_OPTIONS));
      await time(`${who} read`, () => client.call("fs.read", { path: "~/small" }, PATIENT_OPTIONS));
      await time(`${who} echo`, () => client.call("shell.exec", { input: "echo hi" }, PATIENT_OPTIONS));
    }
    await pause(GAP_MS);
  }
  return found;
}

/** The worst ratio of all kinds to the same kind when idle. */
function ratio(during: Times, idle: Times): number {
  return Math.max(0, ...Object.entries(during).map(([name, list]) => at(list, 0.99) / Math.max(FLOOR_MS, at(idle[name] ?? [], 0.99))));
}

function merge(into: Times, more: Times): void {
  for (const [name, list] of Object.entries(more)) (into[name] ??= []).push(...list);
}

function text(times: Times): string {
  return Object.entries(times)
    .map(([name, list]) => `${name} ${Math.round(at(list, 0.99))}`)
    .join(", ");
}

function at(list: readonly number[], share: number): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Creates a file larger than any call would: a sparse blob and the row that names it. */
function placeHuge(path: string, bytes: number): void {
  const hash = "5".repeat(64);
  const file = openSync(join(home, "blobs", `file-${hash}`), "w", 0o600);
  ftruncateSync(file, bytes);
  closeSync(file);
  const database = new DatabaseSync(join(home, "kernel.db"));
  const owner = database.prepare("SELECT uid, gid FROM passwd WHERE home = ?").get(dirname(path))!;
  database
    .prepare("INSERT INTO files (path, parent, kind, uid, gid, mode, size, hash, modified_at) VALUES (?, ?, 'file', ?, ?, 420, ?, ?, 1)")
    .run(path, dirname(path), owner.uid!, owner.gid!, bytes, hash);
  database.close();
}

function rssOf(gateway: Gateway): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function enter(url: string, username: string): Promise<Client> {
  const auth: Auth = { username, password: `password of ${username}` };
  return connect({ url, auth, reconnect: false });
}

async function addressOf(gateway: Gateway): Promise<string> {
  const url = await gateway.ready;
  if (url === null) throw new Error("the gateway ended before it was up");
  return url;
}

async function pollUntil(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200 && !(await condition()); tries++) await pause(50);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
