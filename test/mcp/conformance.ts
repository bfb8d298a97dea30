// Prints how the gateway, as an MCP client, does in the public conformance suite, and fails if a scenario does not end as suite.ts beside
// this file expects it to: npm run conformance:mcp [-- --scenario NAME].

import { Bar, flag } from "../trust/bar.ts";
import { EXPECTED, findProblems, listScenarios, listUnknownExpected, type Result, runScenarios, suiteVersion } from "./suite.ts";

const bar = new Bar(`conformance:mcp (@modelcontextprotocol/conformance ${suiteVersion()})`);
const started = Date.now();
const all = await listScenarios();
const only = flag("scenario");
const chosen = all.filter(({ name }) => only === undefined || name === only);
if (chosen.length === 0) throw new Error(`the suite has no scenario ${only}. It has: ${all.map(({ name }) => name).join(", ")}`);

const results = new Map<string, Result>();
await runScenarios(chosen, (result) => results.set(result.name, result));
for (const { name } of chosen) printRow(results.get(name)!);
for (const name of listUnknownExpected(all)) bar.check("scenarios", false, () => `EXPECTED names ${name}, which the suite does not have`);
const ended = [...results.values()];
bar.numbers["scenarios passed"] = ended.filter(({ failed }) => failed.length === 0).length;
bar.numbers["scenarios expected to fail"] = ended.filter(({ name }) => name in EXPECTED).length;
bar.numbers["checks passed"] = countOf(ended, "passed");
bar.numbers["checks failed"] = countOf(ended, "failed");
bar.numbers["ms"] = Date.now() - started;
bar.end();

function printRow(result: Result): void {
  const { name, versions, passed, failed, ms } = result;
  const problems = findProblems(result);
  const outcome = problems.length > 0 ? "WRONG" : failed.length > 0 ? "fails, as expected" : "passes";
  const checks = `${passed.length}/${passed.length + failed.length}`;
  console.log([name.padEnd(42), versions.padEnd(22), checks.padStart(6), `${String(ms).padStart(6)} ms`, ` ${outcome}`].join(" "));
  bar.check("scenarios", problems.length === 0, () => problems.join("\n"));
}

function countOf(results: readonly Result[], which: "passed" | "failed"): number {
  return results.reduce((sum, result) => sum + result[which].length, 0);
}
