// Runs the test suite, or a part of it, with vitest.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, execute, ROOT } from "./child.ts";
import { type Outcomes, OUTCOMES_FILE } from "./outcomes.ts";

/** `filters` are passed to vitest: paths, and flags such as `-t`. */
export async function runSuite(name: string, scratch: string, env: NodeJS.ProcessEnv, filters: readonly string[] = []): Promise<Outcomes> {
  const report = join(scratch, `${name}.json`);
  const colour = process.stdout.isTTY ? [] : ["--no-color"];
  const args = ["run", ...colour, "--reporter=dot", `--reporter=${join(ROOT, "tools/testing/outcomes.ts")}`, ...filters];
  const { status, said } = await execute({ command: join(BIN, "vitest"), args, env: { ...env, [OUTCOMES_FILE]: report }, isLive: true });
  const outcomes: Outcomes = existsSync(report)
    ? (JSON.parse(readFileSync(report, "utf8")) as Outcomes)
    : { passed: 0, failures: [], files: [], slow: [] };
  if (status !== 0 && outcomes.failures.length === 0) outcomes.failures.push({ file: "", name: `vitest ended with ${status}`, why: said });
  return outcomes;
}
