// Runs the client scenarios of the public conformance suite of MCP, @modelcontextprotocol/conformance, against a gateway: one gateway for
// all scenarios, and client.ts beside this file as the suite's client. EXPECTED has the scenarios that cannot pass, and why. The script is
// conformance.ts, the test conformance.test.ts.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate, ROOT } from "../support/people.ts";

export type Scenario = { name: string; versions: string };
export type Check = { id: string; description: string; status: string; errorMessage?: string; details?: Record<string, unknown> };
export type Result = Scenario & { passed: Check[]; failed: Check[]; ms: number };
type Expected = { failing: readonly string[]; shows?: string; why: string };

/** The gateway's public address in the scenario of which the suite says that providers are given this one. Nothing listens there. */
const PUBLIC_ORIGIN = "https://conformance-test.local";

/** The scenarios that fail, and in which checks. `shows` must be in what the suite reports of them. */
export const EXPECTED: Readonly<Record<string, Expected>> = {
  "elicitation-sep1034-client-defaults": {
    failing: ["general", "string-default", "integer-default", "number-default", "enum-default", "boolean-default"].map(
      (field) => `client-elicitation-sep1034-${field}`,
    ),
    why: "A server can ask nothing of GSV: it declares no elicitation, so there is no form whose defaults it could fill in.",
  },
  "auth/basic-cimd": {
    failing: ["cimd-client-id-used"],
    shows: `"actualClientId":"${PUBLIC_ORIGIN}/.well-known/oauth-client/gsv.json"`,
    why: "GSV signs in with the address of its own metadata document; the suite knows only the address of its example's.",
  },
  "auth/2025-03-26-oauth-metadata-backcompat": {
    failing: ["client-registration", "authorization-request", "token-request"],
    why: "A mistake of the suite, corrected in 0.2.0 (conformance#359): its metadata names another issuer than the address it is read from, which RFC 8414 (3.3) tells clients to refuse.",
  },
  "auth/client-credentials-jwt": {
    failing: ["client-credentials-grant-type", "client-credentials-jwt-verified"],
    why: "An extension: a sign-in without a person. In GSV every account belongs to a person, who signs in to it.",
  },
  "auth/client-credentials-basic": {
    failing: ["client-credentials-grant-type", "client-credentials-basic-auth"],
    why: "An extension: a sign-in without a person. In GSV every account belongs to a person, who signs in to it.",
  },
  "auth/cross-app-access-complete-flow": {
    failing: ["complete-flow-token-exchange", "complete-flow-jwt-bearer"],
    why: "An extension: a company's identity provider signs its people in to servers. GSV has its own users and no such provider.",
  },
};

const require = createRequire(import.meta.url);
const SUITE = require.resolve("@modelcontextprotocol/conformance/dist/index.js");
const CLIENT = join(dirname(fileURLToPath(import.meta.url)), "client.ts");
/** Each is two short-lived programs, which mostly wait for each other and for the gateway. */
const AT_ONCE = 3;
/** Guards against hangs. The client ends itself before. */
const CLIENT_MS = 120_000;
const SCENARIO_MS = 150_000;
/** Scenarios that measure time: they are run while no other is. */
const TIMED: ReadonlySet<string> = new Set(["sse-retry"]);

export function suiteVersion(): string {
  const { version } = JSON.parse(readFileSync(join(dirname(SUITE), "../package.json"), "utf8")) as { version: string };
  return version;
}

export async function listScenarios(): Promise<Scenario[]> {
  const { stdout, stderr } = await runSuite(["list", "--client"], process.env);
  const scenarios = [...stdout.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name = "", versions = ""]) => ({ name, versions }));
  if (scenarios.length === 0) throw new Error(`the suite lists no scenarios: ${stdout}${stderr}`);
  return scenarios;
}

/** Results come in the order in which scenarios end. */
export async function runScenarios(scenarios: readonly Scenario[], onResult: (result: Result) => void): Promise<void> {
  const host = await startNodeHost({ origin: [PUBLIC_ORIGIN] });
  try {
    await populate(host);
    const root = await enter(host, ROOT);
    await root.call("sys.config.set", { key: "config/net/allowed_hosts", value: "127.0.0.1 localhost" });
    root.close();
    const alice = await enter(host, ALICE);
    const { token } = await alice.call("sys.token.create", { kind: "user" });
    alice.close();
    const env = { GSV_URL: host.url, GSV_USERNAME: ALICE.username, GSV_TOKEN: token.token, GSV_PUBLIC_ORIGIN: PUBLIC_ORIGIN };
    for (const scenario of scenarios.filter(({ name }) => TIMED.has(name))) onResult(await runScenario(scenario, env));
    const waiting = scenarios.filter(({ name }) => !TIMED.has(name));
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) onResult(await runScenario(next, env));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    // Clients that still run end with their connection, and the suite with its client.
    await host.close();
  }
}

/** What is not as it should be, a line each: a check that fails, or a scenario that was expected to fail and does not. */
export function findProblems({ name, failed }: Result, { mayBeLate = false } = {}): string[] {
  const counting = failed.filter((check) => !(mayBeLate && isLate(check)));
  const expected = EXPECTED[name];
  if (expected === undefined) return counting.map((check) => `${name}: ${describe(check)}`);
  if (counting.length === 0) return [`${name} passes, but is expected to fail: remove it from EXPECTED`];
  const others = counting.filter(({ id }) => !expected.failing.includes(id)).map((check) => `${name}: ${describe(check)}`);
  const missing = expected.failing
    .filter((id) => !counting.some((check) => check.id === id))
    .map((id) => `${name}: ${id} passes, but is expected to fail: remove it from EXPECTED`);
  const unseen = expected.shows !== undefined && !JSON.stringify(counting).includes(expected.shows);
  return [...others, ...missing, ...(unseen ? [`${name}: ${expected.shows} is not in ${JSON.stringify(counting)}`] : [])];
}

/** Names in EXPECTED that the suite does not have. */
export function listUnknownExpected(scenarios: readonly Scenario[]): string[] {
  return Object.keys(EXPECTED).filter((expected) => !scenarios.some(({ name }) => name === expected));
}

function describe({ id, description, errorMessage }: Check): string {
  return `${id}: ${errorMessage ?? description}`;
}

/** That a reconnect comes late is the fault of a machine that does other things too. That it comes too early is not. */
function isLate({ id, details }: Check): boolean {
  return id === "client-sse-retry-timing" && details?.tooEarly === false;
}

async function runScenario(scenario: Scenario, env: Readonly<Record<string, string>>): Promise<Result> {
  const started = Date.now();
  const command = `'${process.execPath}' '${CLIENT}'`;
  const args = ["client", "--command", command, "--scenario", scenario.name, "--timeout", String(CLIENT_MS), "--verbose"];
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const { status, stdout, stderr } = await runSuite(args, { ...inherited, ...env });
  const checks = parseChecks(stdout, stderr);
  const passed = checks.filter((check) => check.status === "SUCCESS");
  // To the suite, too, a warning is a failure.
  const failed = checks.filter((check) => check.status === "FAILURE" || check.status === "WARNING");
  if (status !== 0 && failed.length === 0)
    failed.push({ id: "client", description: "The client ends without an error", status: "FAILURE", errorMessage: stderr });
  return { ...scenario, passed, failed, ms: Date.now() - started };
}

function parseChecks(stdout: string, stderr: string): Check[] {
  try {
    return JSON.parse(stdout) as Check[];
  } catch {
    throw new Error(`the suite printed no checks: ${stdout}${stderr}`);
  }
}

function runSuite(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ status: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SUITE, ...args], { env, stdio: ["ignore", "pipe", "pipe"], timeout: SCENARIO_MS });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => (stdout += part));
    child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part));
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout, stderr }));
  });
}
