// The public conformance suite of MCP, with this gateway as the client, and that a result which is not as expected is reported: see suite.ts
// beside this file.

import { expect, test } from "vitest";
import { type Check, EXPECTED, findProblems, listScenarios, listUnknownExpected, type Result, runScenarios } from "./suite.ts";

test("every client scenario of the suite ends as expected", async () => {
  const scenarios = await listScenarios();
  expect(listUnknownExpected(scenarios)).toEqual([]);
  const problems: string[] = [];
  const ended: string[] = [];
  await runScenarios(scenarios, (result) => {
    ended.push(result.name);
    problems.push(...findProblems(result, { mayBeLate: true }));
  });
  expect(problems).toEqual([]);
  expect(ended.toSorted()).toEqual(scenarios.map(({ name }) => name).toSorted());
});

const failing = (id: string, details = {}): Check => ({ id, description: "as it should be", status: "FAILURE", details });
const resultOf = (name: string, ...failed: Check[]): Result => ({ name, versions: "2025-11-25", passed: [], failed, ms: 1 });
const CIMD = "auth/basic-cimd";
const cimd = failing("cimd-client-id-used", { actualClientId: "https://conformance-test.local/.well-known/oauth-client/gsv.json" });
const JWT = "auth/client-credentials-jwt";
const [grant, verified] = EXPECTED[JWT]!.failing.map((id) => failing(id));

test.each([
  ["a scenario that passes", resultOf("initialize"), 0],
  ["a scenario that fails", resultOf("initialize", failing("a"), failing("b")), 2],
  ["an expected failure", resultOf(JWT, grant!, verified!, verified!), 0],
  ["an expected failure that passes", resultOf(JWT), 1],
  ["an expected failure that fails in another check too", resultOf(JWT, grant!, verified!, failing("b")), 1],
  ["an expected failure of which one check passes", resultOf(JWT, grant!), 1],
  ["an expected failure that shows what it must", resultOf(CIMD, cimd), 0],
  ["an expected failure that shows something else", resultOf(CIMD, failing(cimd.id, { actualClientId: "test-client-id" })), 1],
])("%s has as many problems as it should", (_, result, problems) => {
  expect(findProblems(result)).toHaveLength(problems);
});

test("a late reconnect counts only where nothing else runs, and one that is too early always", () => {
  const late = resultOf("sse-retry", failing("client-sse-retry-timing", { tooEarly: false, slightlyLate: true }));
  const early = resultOf("sse-retry", failing("client-sse-retry-timing", { tooEarly: true }));
  const countOf = (result: Result, mayBeLate: boolean) => findProblems(result, { mayBeLate }).length;
  expect([countOf(late, true), countOf(late, false), countOf(early, true), countOf(early, false)]).toEqual([0, 1, 1, 1]);
});
