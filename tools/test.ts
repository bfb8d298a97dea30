// Everything `npm test` stands for, in the order in which it is cheapest to fail: generated files, types, lint and
// format, then the test suites, then the trust campaigns with small numbers. Arguments name steps to run alone. The last
// line is the sum, and before it stands what failed and why, so that the end of a log says it all.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeEmptyHome } from "../test/support/empty-home.ts";
import { BIN, endAll, execute } from "./testing/child.ts";
import type { Failure } from "./testing/outcomes.ts";
import { runSuite, secondLook } from "./testing/suite.ts";

/** `beside`: it mostly waits, so the steps after it need not wait for it. */
type Step = { name: string; run(): Promise<Outcome>; beside?: true };
type Outcome = { passed: number; isGood: boolean };

/** It takes a quarter of an hour here; what hangs, on a machine several times slower, must not keep it from saying so. */
const WHOLE_MS = 75 * 60_000;
const SECOND_LOOK_UNTIL_MS = 45 * 60_000;

const scratch = mkdtempSync(join(tmpdir(), "gsv-test-"));
const home = makeEmptyHome();

const STEPS: Step[] = [
  check("generated", process.execPath, "tools/generate.ts", "--check"),
  check("types", join(BIN, "tsc"), "-p", "tsconfig.json"),
  check("types:portable", join(BIN, "tsc"), "-p", "tsconfig.portable.json"),
  check("types:cloudflare", join(BIN, "tsc"), "-p", "tsconfig.cloudflare.json"),
  check("types:web", join(BIN, "tsc"), "-p", "web/tsconfig.json"),
  check("lint", join(BIN, "oxlint")),
  check("format", join(BIN, "oxfmt"), "--check", "."),
  { ...check("trust:devices", process.execPath, "test/trust/devices.ts"), beside: true },
  check("chromium", process.execPath, "test/support/chromium.ts"),
  { name: "suite", run: suite },
  ...[
    "authz",
    "origin",
    "egress",
    "llm",
    "login",
    "revoke",
    "sim",
    "shell",
    "disk",
    "copy",
    "crash",
    "runs",
    "approval",
    "hostile-model",
    "reconnect",
    "ui",
  ].map((bar) => check(`trust:${bar}`, process.execPath, `test/trust/${bar}.ts`)),
];

const wanted = process.argv.slice(2);
const began = Date.now();
const running = new Set<string>();
/** Stories for the end: what failed, and what failed only once. */
const failed: string[] = [];
const unsteady: string[] = [];
/** Tests that failed in the suite and have not passed since. */
let failing: Failure[] = [];
let passed = 0;

process.on("exit", sum);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => giveUp(`ended by ${signal}`));
setTimeout(() => giveUp(`not done after ${WHOLE_MS / 60_000} minutes`), WHOLE_MS).unref();

const beside: Promise<void>[] = [];
for (const step of STEPS) {
  if (wanted.length > 0 && !wanted.some((name) => step.name === name || step.name.startsWith(`${name}:`))) continue;
  const done = take(step);
  if (step.beside) beside.push(done);
  else await done;
}
await Promise.all(beside);
if (failing.length > 0 && Date.now() - began < SECOND_LOOK_UNTIL_MS) await take({ name: "second look", run: lookAgain });

async function take(step: Step): Promise<void> {
  const started = Date.now();
  running.add(step.name);
  const outcome = await step.run();
  running.delete(step.name);
  passed += outcome.passed;
  console.log(`${outcome.isGood ? "ok  " : "FAIL"} ${step.name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

/** A command that says nothing unless it fails counts as one test. */
function check(name: string, command: string, ...args: string[]): Step {
  return {
    name,
    async run() {
      const { status, said } = await execute(home, command, args);
      if (status !== 0) failed.push(`${name} ended with ${status}: ${said}`);
      return { passed: status === 0 ? 1 : 0, isGood: status === 0 };
    },
  };
}

async function suite(): Promise<Outcome> {
  const outcomes = await runSuite(home, scratch);
  failing = outcomes.failures;
  return { passed: outcomes.passed, isGood: failing.length === 0 };
}

async function lookAgain(): Promise<Outcome> {
  const judged = await secondLook(failing, home, scratch);
  failing = judged.failures;
  for (const { file, name, why } of judged.unsteady) unsteady.push(`${file} ${name} failed, then passed: ${why}`);
  return { passed: unsteady.length, isGood: failing.length === 0 };
}

function giveUp(why: string): void {
  failed.push(...[...running].map((name) => `${name}: ${why}`));
  endAll();
  process.exit(1);
}

/** The last thing that is said, however it comes to an end. */
function sum(): void {
  for (const folder of [scratch, home]) rmSync(folder, { recursive: true, force: true });
  failed.push(...failing.map(({ file, name, why }) => `${file} ${name}: ${why}`));
  for (const story of unsteady) console.log(`unsteady: ${indented(story)}`);
  for (const story of failed) console.log(`failed: ${indented(story)}`);
  console.log(`${passed} passed, ${failed.length} failed`);
  if (failed.length > 0) process.exitCode = 1;
}

function indented(text: string): string {
  return text.split("\n").join("\n    ");
}
