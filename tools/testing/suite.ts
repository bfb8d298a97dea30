// The test suite, and a second look at what failed in it: alone, when nothing else runs. A test that then passes was not
// steady, which is said, and does not fail the run. What guards durability or safety has one try: there a failure that
// comes and goes is the very thing that is looked for.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, execute, ROOT } from "./child.ts";
import { type Failure, HOOKS, type Outcomes, OUTCOMES_FILE, WHOLE_FILE } from "./outcomes.ts";

const ONE_TRY = [
  /^test\/(trust|sim)\//,
  /crash|hostile|evasion/,
  /^src\/(approval|gate|kernel|repo|process)\//,
  /^src\/hosts\/(node\/sql|shared\/crypto)\./,
  /^src\/device\/ledger\./,
];
/** So many at once are no accident. */
const FILES_MAX = 8;

export type Judged = { failures: Failure[]; unsteady: Failure[] };

export async function runSuite(home: string, scratch: string, files: readonly string[] = [], ...flags: string[]): Promise<Outcomes> {
  const report = join(scratch, `outcomes-${files.length}.json`);
  process.env[OUTCOMES_FILE] = report;
  const reporters = ["--reporter=dot", `--reporter=${join(ROOT, "tools/testing/outcomes.ts")}`];
  const { status, said } = await execute(home, join(BIN, "vitest"), ["run", ...reporters, ...flags, ...files]);
  const outcomes: Outcomes = existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as Outcomes) : { passed: 0, failures: [] };
  if (status !== 0 && outcomes.failures.length === 0) outcomes.failures.push({ file: "", name: `vitest ended with ${status}`, why: said });
  return outcomes;
}

export async function secondLook(failures: readonly Failure[], home: string, scratch: string): Promise<Judged> {
  const again = failures.filter(({ file }) => file !== "" && !ONE_TRY.some((pattern) => pattern.test(file)));
  const files = [...new Set(again.map(({ file }) => file))];
  if (files.length === 0 || files.length > FILES_MAX) return { failures: [...failures], unsteady: [] };
  console.log(`Looking again, alone: ${files.join(", ")}`);
  const { failures: still, passed } = await runSuite(home, scratch, files, "--maxWorkers=1");
  // Nothing passed where the run itself broke: then there was no second look.
  const hasPassed = (failure: Failure) => passed > 0 && again.includes(failure) && !still.some((other) => isSame(failure, other));
  const broken = still.filter(({ file }) => file === "");
  return { failures: [...failures.filter((failure) => !hasPassed(failure)), ...broken], unsteady: failures.filter(hasPassed) };
}

/** A file that does not load, or a hook that fails, takes its tests with it. */
function isSame(first: Failure, second: Failure): boolean {
  if (first.file !== second.file) return false;
  if (first.name === second.name || second.name === WHOLE_FILE) return true;
  return second.name.endsWith(HOOKS) && first.name.startsWith(second.name.slice(0, -HOOKS.length));
}
