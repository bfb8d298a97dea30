// A server that fails several times in a row is left alone for a while: calls are refused at once, say when to come back, and reach nobody.
// Others are not affected, and the server is tried again afterwards.

import { behaveProperly, messageOf } from "../../support/mcp/hostile.ts";
import { readBody, startLocalServer } from "../../support/mcp/server.ts";
import type { Bar } from "../bar.ts";
import { ALICE } from "../../support/people.ts";
import { callTool, until, type World } from "./world.ts";

const FAILURES_MAX = 10;
const REFUSED_CALLS = 20;
const REST_MS = 60_000;
/** More than it takes to be left alone, and as many as run at once. */
const ABORTED_CALLS = 8;

export async function tryCircuit(bar: Bar, world: World): Promise<void> {
  const { alice } = world;
  const state = { isDown: false, requests: 0 };
  const server = await startLocalServer(async (request, response) => {
    state.requests++;
    if (state.isDown) return request.socket.destroy();
    behaveProperly(request, response, messageOf(await readBody(request)));
  });
  world.keep(server);
  await world.allow(server.origin);
  const { serverId } = await world.add(alice, "Down", `${server.origin}/mcp`);
  const good = await world.add(alice, "Good", world.good.url);
  state.isDown = true;
  let failures = 0;
  for (; failures < FAILURES_MAX; failures++) {
    const { failure } = await callTool(alice, serverId, "t", { timeoutMs: 1_000 });
    if (failure?.details["retryAfterMs"] !== undefined) break;
    bar.check("circuit", failure?.code === 503, () => `an unreachable server: ${failure?.code} ${failure?.message}`);
  }
  bar.check("circuit", failures > 1 && failures < FAILURES_MAX, () => `calls went on after ${failures} failures`);
  const before = state.requests;
  const refused = await Promise.all(Array.from({ length: REFUSED_CALLS }, () => callTool(alice, serverId, "t", { timeoutMs: 1_000 })));
  for (const { failure } of refused) {
    const retryAfterMs = failure?.details["retryAfterMs"];
    const isRight = failure?.code === 503 && typeof retryAfterMs === "number" && retryAfterMs > 0 && retryAfterMs <= REST_MS;
    bar.check("circuit", isRight, () => `a server that rests: ${failure?.code} ${failure?.message} ${JSON.stringify(failure?.details)}`);
  }
  bar.check("circuit", state.requests === before, () => `a server that rests was contacted ${state.requests - before} times`);
  const other = await callTool(alice, good.serverId, "echo", { arguments: { text: "here" } });
  bar.check("circuit", other.failure === null, () => `another server of the same user: ${other.failure?.message}`);
  state.isDown = false;
  await world.gateway.moveClock(REST_MS);
  const again = await callTool(alice, serverId, "t");
  bar.check("circuit", again.failure === null, () => `after its rest: ${again.failure?.code} ${again.failure?.message}`);
  await tryAborted(bar, world, good.serverId);
  for (const each of [serverId, good.serverId]) await alice.call("sys.mcp.remove", { serverId: each });
  await server.close();
}

/** Calls whose caller went away say nothing about the server. */
async function tryAborted(bar: Bar, world: World, serverId: string): Promise<void> {
  const { good } = world;
  const leaving = await world.connect(ALICE);
  const slow = { serverId, name: "slow", arguments: { ms: 60_000 } };
  const calls = Array.from({ length: ABORTED_CALLS }, () => leaving.call("sys.mcp.call", slow).catch(() => null));
  await until(() => good.running === ABORTED_CALLS);
  leaving.close();
  await Promise.all(calls);
  bar.check("circuit", await until(() => good.running === 0), () => `${good.running} calls go on whose caller went away`);
  const { failure } = await callTool(world.alice, serverId, "echo", { arguments: { text: "here" } });
  bar.check("circuit", failure === null, () => `after ${ABORTED_CALLS} aborted calls: ${failure?.code} ${failure?.message}`);
}
