// Everything `npm test` covers: generated files, types, lint and format, the test suite, and the trust bars with small numbers.
// Steps run in parallel as far as the machine allows. `npm test -- quick` is the part for the working loop; other arguments name
// steps to run alone. The last line is the total; before it are the slowest tests, and the failures with their reasons.

import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { withEmptyHome } from "../test/support/empty-home.ts";
import { BIN, execute, killAll } from "./testing/child.ts";
import { endLeftovers } from "./testing/leftovers.ts";
import type { Outcomes, Timed } from "./testing/outcomes.ts";
import { runAll } from "./testing/schedule.ts";
import { makeScratch } from "./testing/scratch.ts";
import { runSuite } from "./testing/suite.ts";

/** `load`: how many cores it keeps busy. */
type Step = { name: string; load: number; run(): Promise<Outcome> };
type Outcome = { passed: number; isGood: boolean };

/** A run takes about twelve minutes here. The timeout leaves room for a much slower machine, and ends a hanging step with a message. */
const RUN_TIMEOUT_MS = 75 * 60_000;
const SLOWEST_SHOWN = 10;
/** Slightly more than the number of cores: most steps wait now and then. */
const CAPACITY = availableParallelism() + 1;

/** Both hosts start, are set up, store files, run commands and let an agent answer. */
const SMOKE = ["sys.setup:first-user", "sys.connect:user-token", "fs.write:creates", "shell.exec:completes", "proc.send:answers"];

const scratch = makeScratch();
const env = makeEnvironment();

const CHECKS: Step[] = [
  check("generated", 1, process.execPath, "tools/generate.ts", "--check"),
  check("types", 1, join(BIN, "tsc"), "-p", "tsconfig.json"),
  check("types:portable", 1, join(BIN, "tsc"), "-p", "tsconfig.portable.json"),
  check("types:cloudflare", 1, join(BIN, "tsc"), "-p", "tsconfig.cloudflare.json"),
  check("types:web", 1, join(BIN, "tsc"), "-p", "web/tsconfig.json"),
  check("lint", 1, join(BIN, "oxlint")),
  check("format", 1, join(BIN, "oxfmt"), "--check", "."),
];
const CHROMIUM = check("chromium", 1, process.execPath, "test/support/chromium.ts");
const SUITE = suite("suite", 2);
/** First, because it computes on both cores: at the end nothing could run beside it. */
const SANDBOX = bar("sandbox", 2);
const BARS: Step[] = [
  bar("devices", 0.3),
  bar("crash", 0.8),
  bar("runs", 0.8),
  bar("disk", 0.8),
  bar("ui", 1),
  bar("fair", 1),
  bar("mcp", 0.5),
  bar("reconnect", 0.8),
  bar("copy", 0.8),
  bar("shell", 0.8),
  bar("sim", 1),
  bar("approval", 1),
  bar("hostile-model", 1),
  bar("authz", 1),
  bar("llm", 1),
  bar("clock", 1),
  bar("egress", 0.5),
  bar("login", 0.5),
  bar("revoke", 0.5),
  bar("origin", 0.5),
];
const QUICK: Step[] = [
  suite("unit", 2, "src"),
  suite("smoke", 1, "test/conformance/node.test.ts", "test/conformance/cloudflare.test.ts", "-t", `(${SMOKE.join("|")}):`),
];

const requested = process.argv.slice(2);
const running = new Set<string>();
const failed: string[] = [];
const files: Timed[] = [];
const slow: Timed[] = [];
let passed = 0;

process.on("exit", summarize);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => failAndExit(`ended by ${signal}`));
setTimeout(() => failAndExit(`not done after ${RUN_TIMEOUT_MS / 60_000} minutes`), RUN_TIMEOUT_MS).unref();

for (const stage of stages()) await runAll(stage.map(taskOf), CAPACITY);

/** The first stage fails cheaply, or is needed by the next. */
function stages(): Step[][] {
  if (requested.length === 0)
    return [
      [...CHECKS, CHROMIUM],
      [SANDBOX, SUITE, ...BARS],
    ];
  if (requested.includes("quick")) return [CHECKS, QUICK];
  const isWanted = ({ name }: Step) => requested.some((one) => name === one || name.startsWith(`${one}:`));
  const chosen = [...CHECKS, CHROMIUM, SANDBOX, SUITE, ...BARS, ...QUICK].filter(isWanted);
  const unknown = requested.filter((one) => !chosen.some(({ name }) => name === one || name.startsWith(`${one}:`)));
  for (const one of unknown) failed.push(`there is no step ${one}`);
  return [chosen];
}

function taskOf(step: Step) {
  return {
    load: step.load,
    async run() {
      const started = Date.now();
      running.add(step.name);
      const outcome = await step.run();
      running.delete(step.name);
      passed += outcome.passed;
      const ms = Date.now() - started;
      if (step.name.startsWith("trust:")) files.push({ name: step.name, ms });
      console.log(`${outcome.isGood ? "ok  " : "FAIL"} ${step.name} (${seconds(ms)})`);
    },
  };
}

/** A program that prints nothing unless it fails counts as one test. */
function check(name: string, load: number, command: string, ...args: string[]): Step {
  return {
    name,
    load,
    async run() {
      const { status, said } = await execute({ command, args, env });
      if (status !== 0) failed.push(`${name} ended with ${status}: ${said}`);
      return { passed: status === 0 ? 1 : 0, isGood: status === 0 };
    },
  };
}

function bar(name: string, load: number): Step {
  return check(`trust:${name}`, load, process.execPath, `test/trust/${name}.ts`);
}

function suite(name: string, load: number, ...filters: string[]): Step {
  return { name, load, run: async () => addOutcomes(await runSuite(name, scratch, env, filters)) };
}

function addOutcomes(outcomes: Outcomes): Outcome {
  files.push(...outcomes.files);
  slow.push(...outcomes.slow);
  failed.push(...outcomes.failures.map(({ file, name, why }) => `${file} ${name}: ${why}`));
  return { passed: outcomes.passed, isGood: outcomes.failures.length === 0 };
}

/** An empty home without dotfiles, and one folder for all temporary files, which is removed after the run. */
function makeEnvironment(): NodeJS.ProcessEnv {
  const home = join(scratch, "home");
  mkdirSync(home);
  const path = `${BIN}:${process.env.PATH}`;
  return { ...withEmptyHome(home, process.env), PATH: path, TMPDIR: scratch, NODE_COMPILE_CACHE: join(scratch, "compiled") };
}

function failAndExit(why: string): void {
  failed.push(...[...running].map((name) => `${name}: ${why}`));
  process.exit(1);
}

/** Printed last, however the run ends. */
function summarize(): void {
  killAll();
  const isWhole = running.size === 0;
  for (const leftover of endLeftovers(scratch)) if (isWhole) failed.push(`a test left this running: ${leftover}`);
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  if (files.length > SLOWEST_SHOWN) {
    console.log("The slowest files:");
    for (const { name, ms } of slowestFirst(files).slice(0, SLOWEST_SHOWN)) console.log(`  ${seconds(ms).padStart(8)}  ${name}`);
  }
  if (slow.length > 0) console.log("Tests over 5 s:");
  for (const { name, ms } of slowestFirst(slow)) console.log(`  ${seconds(ms).padStart(8)}  ${name}`);
  for (const failure of failed) console.log(`failed: ${failure.split("\n").join("\n    ")}`);
  console.log(`${passed} passed, ${failed.length} failed`);
  if (failed.length > 0) process.exitCode = 1;
}

function slowestFirst(timed: readonly Timed[]): Timed[] {
  return timed.toSorted((a, b) => b.ms - a.ms);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
