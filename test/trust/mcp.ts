// trust:mcp. MCP servers and OAuth providers that misbehave reach nothing: a call ends with the right result or a clear error, others are
// answered meanwhile, nothing remains of it, no account is stored that its owner did not sign in to, and no secret leaves. The gateway is a
// process of its own on a real disk; its peers are in mcp/ and test/support/{mcp,oauth}. `--calls N` is how many calls must leave nothing.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHostileServer } from "../support/mcp/hostile.ts";
import { startMaliciousMetadata } from "../support/oauth/malicious-metadata.ts";
import { Bar, numberFlag } from "./bar.ts";
import { tryCircuit } from "./mcp/circuit.ts";
import { tryLingering, tryManyCalls } from "./mcp/leaks.ts";
import { tryMetadata, trySlowLies } from "./mcp/metadata.ts";
import { tryAgent, tryModes, trySlowModes, tryTexts } from "./mcp/modes.ts";
import { checkSecrets, keepSecrets } from "./mcp/secrets.ts";
import { tryCrash, tryRefreshes } from "./mcp/sign-ins.ts";
import { tryStates } from "./mcp/states.ts";
import { World } from "./mcp/world.ts";

const calls = numberFlag("calls", 1_000);
const bar = new Bar("trust:mcp");
const home = mkdtempSync(join(tmpdir(), "gsv-mcp-"));
let world: World | null = null;

try {
  world = await World.start(home);
  await tryAll(world);
} catch (error) {
  bar.check("harness", false, () => (error instanceof Error ? String(error.stack) : String(error)));
}
await world?.close();
rmSync(home, { recursive: true, force: true });
bar.end();

async function tryAll(world: World): Promise<void> {
  await timed("many calls", () => tryManyCalls(bar, world, calls));
  const slow = await startSlow(world);
  await timed("modes", () => tryModes(bar, world));
  await timed("texts", () => tryTexts(bar, world));
  await timed("agent", () => tryAgent(bar, world));
  await timed("circuit", () => tryCircuit(bar, world));
  await timed("lingering", () => tryLingering(bar, world));
  await timed("refreshes", () => tryRefreshes(bar, world));
  await timed("states", () => tryStates(bar, world));
  await timed("metadata", () => tryMetadata(bar, world));
  const secrets = await keepSecrets(bar, world);
  await timed("slow", () => slow.end());
  await timed("crash", () => tryCrash(bar, world));
  checkSecrets(bar, world, secrets);
  bar.check("alive", world.gateway.isAlive, () => "the gateway has ended");
}

/** What takes ten seconds and more runs beside everything else, with peers of its own. */
async function startSlow(world: World): Promise<{ end(): Promise<void> }> {
  const hostile = world.keep(await startHostileServer({ elsewhere: world.canaryUrl }));
  const liars = world.keep(await startMaliciousMetadata(world.canaryUrl));
  for (const url of [hostile.url("hang"), liars.honest]) await world.allow(url);
  const ending = Promise.all([trySlowModes(bar, world, hostile), trySlowLies(bar, world, liars)]);
  // Seen in `end`.
  ending.catch(() => {});
  return {
    async end() {
      // A bar that has failed already need not take all its time.
      if (!bar.isWrong) await ending;
    },
  };
}

async function timed(name: string, work: () => Promise<void>): Promise<void> {
  const from = performance.now();
  await work();
  bar.numbers[`${name} s`] = Number(((performance.now() - from) / 1000).toFixed(1));
}
