// trust:sandbox. Scripts reach nothing but the calls on their list, leave nothing behind for the next script, and take no time from
// others. Tries to escape (sandbox/escapes.ts) and to use up time and memory (sandbox/bombs.ts) in the threads of the Node host, while
// it measures how long this thread is held; an engine that stands for one a script took over; and the engine of the Cloudflare host,
// whose slices must end by their steps. `--all 1` measures the slices of all bombs, `--rounds N` repeats what runs on Node.

import type { Worker as Thread } from "node:worker_threads";
import { Worker } from "node:worker_threads";
import { NodeSandboxes, type SandboxLimits } from "../../src/hosts/node/sandboxes.ts";
import { Slots } from "../../src/lib/slots.ts";
import { INTERRUPTED, type ScriptAnswer, type ScriptCall, type ScriptEnd, type ScriptLink, TIMED_OUT } from "../../src/ports/sandbox.ts";
import { runScript } from "../../src/sandbox/engine.ts";
import { Instance, type Outcome } from "../../src/sandbox/instance.ts";
import { CALLS_AT_ONCE, ENGINE_LIMITS } from "../../src/sandbox/limits.ts";
import { TOOL_OF_SCRIPT_CALL } from "../../src/sandbox/script-calls.ts";
import { compileEngine } from "../support/sandbox.ts";
import { Bar, numberFlag } from "./bar.ts";
import { type Bomb, BOMBS } from "./sandbox/bombs.ts";
import { CANARY, type Escape, ESCAPES, TOOLS, VISIBLE } from "./sandbox/escapes.ts";
import { HoldMeter } from "./sandbox/hold.ts";
import type { Metered } from "./sandbox/metered-thread.ts";
import { spiedInstance } from "./sandbox/spied-instance.ts";

/** Nothing that a script does may hold the kernel's thread longer, or twice as long as harmless scripts do in the same run. */
const HOLD_MS_MAX = 50;
const SLICE_MS_MAX = 1_000;
/** Guards against what never ends, far above what a slow machine needs. */
const BOMB_MS = 60_000;
const TAKEN_MS = 10_000;
const BOMBS_AT_ONCE = 4;
const ATTACKER = 1000;
const VICTIM = 1001;
const CPU_MS = 150;
const SHORT_MS = 700;

/** What a bomb's group of limits is, and what its end must say. */
const KINDS: Record<Bomb["kind"], { limits: Partial<SandboxLimits>; isRight: (end: ScriptEnd) => boolean }> = {
  cpu: { limits: { engine: { ...ENGINE_LIMITS, cpuMs: CPU_MS } }, isRight: (end) => errorOf(end).includes("computed for more than") },
  held: { limits: { graceMs: 100, engine: { ...ENGINE_LIMITS, wallMs: SHORT_MS } }, isRight: (end) => errorOf(end).startsWith(TIMED_OUT) },
  memory: { limits: {}, isRight: (end) => end.kind === "failed" && !errorOf(end).startsWith(TIMED_OUT) },
  waits: { limits: { engine: { ...ENGINE_LIMITS, wallMs: SHORT_MS } }, isRight: (end) => errorOf(end) === TIMED_OUT },
  flood: { limits: { engine: { ...ENGINE_LIMITS, cpuMs: 2_000 } }, isRight: (end) => end.kind !== "suspended" },
};

const rounds = numberFlag("rounds", 1);
const isAll = numberFlag("all", 0) === 1;
const bar = new Bar("trust:sandbox");
const threads = new Set<Thread>();
process.on("worker", (thread) => {
  threads.add(thread);
  thread.once("exit", () => threads.delete(thread));
});
process.on("unhandledRejection", (error) => bar.check("harness", false, () => `a promise was rejected: ${String(error)}`));
process.env.GSV_CANARY = CANARY;
const before = describeBuiltIns();
let escaped = 0;

const slices = measureSlices();
for (let round = 0; round < rounds; round++) {
  const control = await holdOf(() => runHarmless());
  const held = Math.max(await holdOf(() => tryEscapes()), await holdOf(() => runBombs()));
  bar.numbers["control hold ms"] = Math.max(control, Number(bar.numbers["control hold ms"] ?? 0));
  bar.numbers["slowest hold ms"] = Math.max(held, Number(bar.numbers["slowest hold ms"] ?? 0));
  bar.check(
    "holds",
    held <= Math.max(HOLD_MS_MAX, 2 * control),
    () => `this thread was held for ${held} ms, and ${control} ms by harmless scripts`,
  );
}
await tryTakenEngines();
await slices;
bar.numbers.escaped = escaped;
bar.check("built-ins", describeBuiltIns() === before, () => "an object of this thread was changed");
bar.check("threads", threads.size === 0, () => `${threads.size} threads are left`);
bar.end();

async function holdOf(work: () => Promise<void>): Promise<number> {
  const meter = new HoldMeter();
  await work();
  return meter.end();
}

function describeBuiltIns(): string {
  const all = [Object, Array, Function, Promise, String, Number, Error, Map, JSON, globalThis];
  return JSON.stringify(
    all.map((one) => [Object.getOwnPropertyNames(one), "prototype" in one ? Object.getOwnPropertyNames(one.prototype) : []]),
  );
}

function errorOf(end: ScriptEnd): string {
  return end.kind === "failed" ? end.error : "";
}

/** Runs a script, with a guard against one that is never ended. */
async function run(sandboxes: NodeSandboxes, uid: number, code: string, link: ScriptLink): Promise<ScriptEnd> {
  const start = { kind: "source", code, globals: { argv: [], args: null } } as const;
  let guard: NodeJS.Timeout | undefined;
  const late = new Promise<ScriptEnd>((resolve) => {
    guard = setTimeout(() => resolve({ kind: "failed", error: "never ended", stack: "", logs: [] }), BOMB_MS / 2);
  });
  const end = await Promise.race([sandboxes.makeSandbox(() => uid).run(start, link, new AbortController().signal), late]);
  clearTimeout(guard);
  return end;
}

async function runHarmless(): Promise<void> {
  const sandboxes = new NodeSandboxes();
  const code = "const all = []; for (let n = 0; n < 50; n++) all.push(await shell('x'.repeat(1000))); return all";
  const ends = await Promise.all(Array.from({ length: 24 }, (_, at) => run(sandboxes, at % 6, code, answer)));
  for (const end of ends) bar.check("harmless", end.kind === "completed", () => JSON.stringify(end));
  await sandboxes.close();
}

async function answer({ args }: ScriptCall): Promise<ScriptAnswer> {
  if (args.includes("refuse")) return { kind: "error", message: "Permission denied" };
  return args.includes("never") ? new Promise(() => {}) : { kind: "value", json: '{"ok":true}' };
}

/** All of them in one thread: after each, another user's script must find that thread as if it were new. */
async function tryEscapes(): Promise<void> {
  const sandboxes = new NodeSandboxes({ perUser: 1, total: 1, idle: 1, engine: { ...ENGINE_LIMITS, cpuMs: 5_000 } });
  const fresh = JSON.stringify(await run(sandboxes, VICTIM, VISIBLE, answer));
  bar.check("state", fresh.includes('"completed"'), () => `a script could not be run: ${fresh}`);
  for (const escape of ESCAPES) {
    await tryEscape(sandboxes, escape);
    const next = JSON.stringify(await run(sandboxes, VICTIM, VISIBLE, answer));
    bar.check("state", next === fresh, () => `after ${escape.name} the next script sees ${next.slice(0, 300)}`);
  }
  bar.check("threads", threads.size <= 2, () => `${threads.size} threads for scripts that run one after another`);
  await sandboxes.close();
}

async function tryEscape(sandboxes: NodeSandboxes, { name, code, calls = [] }: Escape): Promise<void> {
  const arrived: ScriptCall[] = [];
  const end = await run(sandboxes, ATTACKER, `${TOOLS}${code}`, (call) => {
    arrived.push(call);
    return answer(call);
  });
  const problems = findCallProblems(arrived);
  const names = arrived.map(({ call }) => call).join();
  bar.check("calls", names === calls.join(), () => `${name}: called ${names}, wanted ${calls.join()}`);
  const said = JSON.stringify(end);
  const isOut = problems.length > 0 || /ESCAPED|CANARY/.test(said);
  if (isOut) escaped++;
  bar.check("escapes", !isOut, () => `${name}: ${[...problems, said.slice(0, 300)].join(", ")}`);
  const isShaped =
    end.kind === "completed" ? isJson(end.json) : end.kind === "failed" && typeof end.error === "string" && typeof end.stack === "string";
  const hasTexts = end.kind !== "suspended" && Array.isArray(end.logs) && end.logs.every((line) => typeof line === "string");
  bar.check("ends", isShaped && hasTexts, () => `${name}: ended with ${said.slice(0, 300)}`);
  bar.check("ends", !/SyntaxError|never ended|Execution timed out/.test(errorOf(end)), () => `${name}: was not tried: ${errorOf(end)}`);
}

/** What must be true of every call that arrives, whatever a script does. */
function findCallProblems(calls: readonly ScriptCall[]): string[] {
  const problems = calls.filter(({ call }) => !TOOL_OF_SCRIPT_CALL.has(call)).map(({ call }) => `${call} arrived`);
  if (new Set(calls.map(({ number }) => number)).size !== calls.length) problems.push("two calls with one number");
  if (calls.some(({ number }) => !Number.isSafeInteger(number))) problems.push("a call without a number");
  if (!calls.every(({ args }) => isJson(args))) problems.push("arguments that are not JSON");
  return problems;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function runBombs(): Promise<void> {
  const slots = new Slots(BOMBS_AT_ONCE);
  const groups = Object.entries(KINDS).map(([kind, { limits, isRight }]) => ({
    kind,
    isRight,
    sandboxes: new NodeSandboxes({ idle: 1, ...limits }),
  }));
  const runs = BOMBS.map(({ kind, name, code }, at) =>
    slots.run(async () => {
      const { sandboxes, isRight } = groups.find((one) => one.kind === kind)!;
      const arrived: ScriptCall[] = [];
      const open = { now: 0, most: 0 };
      const end = await run(sandboxes, at, code, async (call) => {
        arrived.push(call);
        open.most = Math.max(open.most, ++open.now);
        // In a later turn, as the kernel answers.
        await new Promise((resolve) => setImmediate(resolve));
        open.now--;
        return answer(call);
      });
      bar.check("bombs", isRight(end), () => `${name} (${kind}): ended with ${JSON.stringify(end).slice(0, 300)}`);
      bar.check("calls", open.most <= CALLS_AT_ONCE, () => `${name}: ${open.most} calls at a time`);
      const problems = findCallProblems(arrived);
      bar.check("calls", problems.length === 0, () => `${name}: ${problems.join(", ")}`);
    }),
  );
  await Promise.all(runs);
  await Promise.all(groups.map(({ sandboxes }) => sandboxes.close()));
}

/** If a script could write the engine's memory, these are the calls and reports that it could make. */
async function tryTakenEngines(): Promise<void> {
  const wasm = await compileEngine();
  const good: ScriptCall = { number: 9, call: "fs.read", args: '{"path":"fine"}' };
  const names = ["sys.config.get", "proc.send", "codemode.exec", "shell", "__proto__", "constructor", "", "fs.read "];
  const args = ["not json", "", "{", `${"[".repeat(100)}${"]".repeat(100)}`, `[${"[],".repeat(60_000)}1]`];
  const bad = [
    ...names.map((call, at) => ({ number: 100 + at, call, args: "{}" })),
    ...args.flatMap((text, at) => [
      { number: 200 + at, call: "fs.write", args: text },
      { number: 300 + at, call: "timer", args: text },
    ]),
    { number: 400, call: "timer", args: "null" },
    { number: 401, call: "timer", args: '{"ms":{"a":1}}' },
  ];
  for (const call of bad) {
    const { end, arrived } = await runTaken(wasm, [call, good]);
    const isRight = end.kind === "failed" && end.error !== INTERRUPTED && arrived.length === 1 && arrived[0] === good;
    bar.check("taken engines", isRight, () => `${JSON.stringify(call).slice(0, 100)}: ${JSON.stringify({ end, arrived }).slice(0, 300)}`);
    // One that is never ended takes long.
    if (!isRight) return;
  }
  const flood = Array.from({ length: 5_000 }, (_, at) => ({ ...good, number: at }));
  const { most } = await runTaken(wasm, flood);
  bar.check("taken engines", most === CALLS_AT_ONCE, () => `${most} calls at a time`);
  const outcome: Outcome = { isOk: true, json: "not json", error: "", name: "", stack: "", logs: [] };
  for (const json of args) {
    const { end } = await runTaken(wasm, [], { ...outcome, json });
    bar.check("taken engines", end.kind === "failed", () => `the result ${json.slice(0, 20)}: ${JSON.stringify(end).slice(0, 200)}`);
  }
}

async function runTaken(wasm: WebAssembly.Module, calls: readonly ScriptCall[], outcome: Outcome | null = null) {
  const arrived: ScriptCall[] = [];
  let open = 0;
  let most = 0;
  const link = async (call: ScriptCall) => {
    arrived.push(call);
    most = Math.max(most, ++open);
    await Promise.resolve();
    open--;
    return answer(call);
  };
  const takeInstance = async () => {
    const left = [...calls];
    return spiedInstance(await Instance.create(wasm), { takeCalls: () => left.splice(0), outcome });
  };
  const start = { kind: "source", code: "await new Promise(() => {})", globals: { argv: [], args: null } } as const;
  const end = await runScript({ wasm, takeInstance }, start, link, AbortSignal.timeout(TAKEN_MS));
  return { end, arrived, most };
}

/** In a thread of its own, which is ended if a slice does not end by itself. */
async function measureSlices(): Promise<void> {
  const bombs = BOMBS.filter(({ kind, slow }) => kind !== "waits" && (isAll || slow === true));
  const left = bombs.map(({ name }) => name);
  const worker = new Worker(new URL("./sandbox/metered-thread.ts", import.meta.url), { workerData: { bombs, wallMs: SHORT_MS } });
  const { promise, resolve } = Promise.withResolvers<void>();
  const onHang = () => {
    bar.check("slices", false, () => `${left[0]} never ended`);
    resolve();
  };
  let guard = setTimeout(onHang, BOMB_MS);
  worker.on("message", ({ name, end, sliceMs }: Metered) => {
    clearTimeout(guard);
    guard = setTimeout(onHang, BOMB_MS);
    left.shift();
    bar.check("slices", sliceMs < SLICE_MS_MAX, () => `${name} computed for ${Math.round(sliceMs)} ms: ${end}`);
    if (sliceMs > Number(bar.numbers["slowest slice ms"] ?? 0)) {
      bar.numbers["slowest slice ms"] = Math.round(sliceMs);
      bar.numbers["slowest slice"] = name;
    }
    if (left.length === 0) resolve();
  });
  worker.on("error", (error) => {
    bar.check("slices", false, () => `the thread failed: ${String(error)}`);
    resolve();
  });
  await promise;
  clearTimeout(guard);
  await worker.terminate();
}
