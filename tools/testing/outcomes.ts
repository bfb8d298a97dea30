// A vitest reporter that writes to a file what passed, what failed and why, and how long it took, for the process that started vitest.

import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** The environment variable that names the file. */
export const OUTCOMES_FILE = "TEST_OUTCOMES_FILE";

export type Failure = { file: string; name: string; why: string };
export type Timed = { name: string; ms: number };
export type Outcomes = { passed: number; failures: Failure[]; files: Timed[]; slow: Timed[] };

const SLOW_MS = 5_000;
const WHY_LINES = 4;
const WHY_CHARS = 600;

export default class OutcomesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const to = process.env[OUTCOMES_FILE];
    if (to === undefined) return;
    const outcomes: Outcomes = { passed: 0, failures: [], files: [], slow: [] };
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      const fail = (name: string, errors: readonly { message: string; stack?: string }[]) =>
        outcomes.failures.push({ file, name, why: describe(errors) });
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      outcomes.files.push({ name: file, ms: collectDuration + setupDuration + duration });
      // A file that does not load, and hooks: the tests that needed them did not run.
      if (module.errors().length > 0) fail("(the file)", module.errors());
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) fail(`${suite.fullName} (hooks)`, suite.errors());
      for (const test of module.children.allTests()) {
        const result = test.result();
        const ms = test.diagnostic()?.duration ?? 0;
        if (ms > SLOW_MS) outcomes.slow.push({ name: `${file} ${test.fullName}`, ms });
        if (result.state === "passed") outcomes.passed++;
        if (result.state === "failed") fail(test.fullName, result.errors);
      }
    }
    for (const error of unhandled) {
      const path: unknown = error.VITEST_TEST_PATH;
      const file = typeof path === "string" ? relative(process.cwd(), path) : "";
      outcomes.failures.push({ file, name: "(an error that nobody caught)", why: describe([error]) });
    }
    writeFileSync(to, JSON.stringify(outcomes));
  }
}

/** The message of the first error, and its place in our own files. */
function describe(errors: readonly { message: string; stack?: string }[]): string {
  const [first] = errors;
  if (first === undefined) return "no reason given";
  const messageLines = first.message.split("\n").filter((line) => line.trim() !== "");
  const place = (first.stack ?? "").split("\n").find((line) => line.includes(process.cwd()) && !line.includes("node_modules"));
  const lines = [...messageLines.slice(0, WHY_LINES), ...(place === undefined ? [] : [place.trim().replaceAll(`${process.cwd()}/`, "")])];
  return lines.join("\n").slice(0, WHY_CHARS);
}
