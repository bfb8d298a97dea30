// Everything `npm test` stands for, in the order in which it is cheapest to fail: generated files, types, lint and
// format, then the test suites, then the trust campaigns with small numbers. Arguments name steps to run alone. The last
// line is the sum.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** `beside`: it mostly waits, so the steps after it need not wait for it. What it says comes when it has ended. */
type Step = { name: string; run(): Promise<Count>; beside?: true };
type Count = { passed: number; failed: number };

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const BIN = join(ROOT, "node_modules/.bin");
const scratch = mkdtempSync(join(tmpdir(), "gsv-test-"));

const STEPS: Step[] = [
  check("generated", process.execPath, "tools/generate.ts", "--check"),
  check("types", join(BIN, "tsc"), "-p", "tsconfig.json"),
  check("types:portable", join(BIN, "tsc"), "-p", "tsconfig.portable.json"),
  check("types:cloudflare", join(BIN, "tsc"), "-p", "tsconfig.cloudflare.json"),
  check("lint", join(BIN, "oxlint")),
  check("format", join(BIN, "oxfmt"), "--check", "."),
  { ...check("trust:devices", process.execPath, "test/trust/devices.ts"), beside: true },
  { name: "suite", run: suite },
  ...["authz", "origin", "egress", "llm", "login", "revoke", "sim", "shell", "disk", "copy", "crash"].map((bar) =>
    check(`trust:${bar}`, process.execPath, `test/trust/${bar}.ts`),
  ),
];

const wanted = process.argv.slice(2);
const total: Count = { passed: 0, failed: 0 };
const beside: Promise<void>[] = [];
for (const step of STEPS) {
  if (wanted.length > 0 && !wanted.some((name) => step.name === name || step.name.startsWith(`${name}:`))) continue;
  const started = Date.now();
  const done = step.run().then(({ passed, failed }) => {
    total.passed += passed;
    total.failed += failed;
    console.log(`${failed === 0 ? "ok  " : "FAIL"} ${step.name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  });
  if (step.beside) beside.push(done);
  else await done;
}
await Promise.all(beside);
rmSync(scratch, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** A command that says nothing unless it fails counts as one test. */
function check(name: string, command: string, ...args: string[]): Step {
  return { name, run: async () => ((await execute(command, args)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }) };
}

async function suite(): Promise<Count> {
  const report = join(scratch, "vitest.json");
  const status = await execute(join(BIN, "vitest"), ["run", "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`]);
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, "utf8")) as { numPassedTests: number; numFailedTests: number };
  // A file that does not even load has no tests to count.
  return { passed: numPassedTests, failed: status === 0 ? 0 : Math.max(1, numFailedTests) };
}

function execute(command: string, args: string[]): Promise<number> {
  const env = { ...process.env, PATH: `${BIN}:${process.env.PATH}` };
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: "inherit", env });
    child.on("error", () => resolve(127));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
