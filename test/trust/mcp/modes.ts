// Every way in which test/support/mcp/hostile.ts misbehaves, and how a call through the gateway must end: what the person is told, and
// whether they are told that the tool may have run. Meanwhile others are answered, memory stays in bounds, and nothing that the server
// names is opened. An agent whose tools fail like this still ends its run with an answer.

import { randomUUID } from "node:crypto";
import type { Client } from "../../../src/client/client.ts";
import { type HostileMode, type HostileServer, startHostileServer } from "../../support/mcp/hostile.ts";
import { says, wants } from "../../support/models/scripted.ts";
import type { Bar } from "../bar.ts";
import { callTool, type Failure, forEach, isClearText, outcomeOf, until, type World } from "./world.ts";

/** `ran`: the error says that the tool may have run. */
type Wanted = "ok" | { code: number; says: RegExp; ran: boolean };
type Case = { at: "add" | "call" | "refreshed call"; wanted: Wanted };

const unknown = (code: number, says: RegExp): Case => ({ at: "call", wanted: { code, says, ran: true } });
const refused = (at: Case["at"], code: number, says: RegExp): Case => ({ at, wanted: { code, says, ran: false } });
const fine: Case = { at: "call", wanted: "ok" };

const LATE = /did not answer in time/;
const CASES: Record<HostileMode, Case> = {
  hang: unknown(504, LATE),
  drip: unknown(504, LATE),
  serverError: unknown(503, /HTTP 500/),
  hugeBody: unknown(503, /larger than 4096 KiB/),
  gzipBomb: unknown(503, /not answer as an MCP server does/),
  wrongId: unknown(504, LATE),
  answersTwice: fine,
  closesMidCall: unknown(503, /connection was lost/),
  changesTools: refused("refreshed call", 409, /^t of changesTools has changed since it was accepted, so it was not called/),
  notJson: unknown(503, /not answer as an MCP server does/),
  wrongType: unknown(503, /content type/),
  empty: unknown(503, /not answer as an MCP server does/),
  deepJson: unknown(503, /nested too deeply or has too many values/),
  wideJson: unknown(503, /nested too deeply or has too many values/),
  prototypeNames: fine,
  resultAndError: unknown(503, /not answer as an MCP server does/),
  wrongSession: refused("add", 503, /404/),
  redirectsElsewhere: refused("call", 503, /Redirect to .* not followed/),
  redirectsForever: refused("call", 503, /Redirect to .* not followed/),
  hangsAtConnect: refused("add", 504, /did not answer within 10 s/),
  hangsAtList: refused("add", 504, LATE),
  endlessSse: unknown(504, LATE),
  endlessSseLine: unknown(503, /connection ended before the server answered/),
  sseWithoutResult: unknown(503, /connection ended before the server answered/),
  asksForMore: fine,
  hugeTools: refused("add", 503, /larger than 4096 KiB/),
  endlessCursor: refused("add", 503, /did not terminate/),
  sameCursor: fine,
  strangeTools: refused("add", 503, /tools\/list/),
};
/** Ten seconds and more: they run beside everything else. */
export const SLOW: readonly HostileMode[] = ["hangsAtConnect", "hangsAtList"];
/** What is written as fast as it is read, or is large: together these must not take more than this. */
const LARGE: readonly HostileMode[] = ["hugeBody", "gzipBomb", "endlessSseLine", "wideJson", "deepJson", "hugeTools"];
const GROWTH_BYTES_MAX = 384 * 1024 * 1024;
const LARGE_ROUNDS = 2;
/** The shortest there is. */
const TIMEOUT_MS = 1_000;
const AT_ONCE = 6;
/** Whoever calls something else meanwhile must not notice. A guard, far above what a busy machine needs. */
const OTHERS_MS_MAX = 5_000;
const REQUESTS_MAX = 60;
/** What asksForMore asks for. */
const QUESTIONS = 3;

export async function tryModes(bar: Bar, world: World): Promise<void> {
  const hostile = world.keep(await startHostileServer({ elsewhere: world.canaryUrl }));
  await world.allow(hostile.url("hang"));
  const others = askOthers(world);
  const isLarge = (mode: HostileMode) => LARGE.includes(mode);
  await forEach(
    hostile.modes.filter((mode) => !isLarge(mode) && !SLOW.includes(mode)),
    AT_ONCE,
    (mode) => tryMode(bar, world, hostile, mode),
  );
  const before = world.gateway.resetPeak();
  for (let round = 0; round < LARGE_ROUNDS; round++) await Promise.all(LARGE.map((mode) => tryMode(bar, world, hostile, mode)));
  const peak = world.gateway.peakBytes();
  const { longestMs, failed, answers } = await others.end();
  bar.numbers["answers to others meanwhile"] = answers;
  bar.check("others", failed === null && answers > 0, () => `others were not answered: ${String(failed)}`);
  bar.check("others", longestMs < OTHERS_MS_MAX, () => `others waited for ${Math.round(longestMs)} ms`);
  if (before !== null && peak !== null) {
    bar.numbers["growth in MB"] = Math.round((peak - before) / 2 ** 20);
    bar.check("memory", peak - before < GROWTH_BYTES_MAX, () => `large answers took ${Math.round((peak - before) / 2 ** 20)} MB`);
  }
  await closeAll(bar, world, hostile);
}

/** Those that take ten seconds and more. Has a server of its own, so that nobody waits for its sockets. */
export async function trySlowModes(bar: Bar, world: World, hostile: HostileServer): Promise<void> {
  await Promise.all(SLOW.map((mode) => tryMode(bar, world, hostile, mode)));
}

async function tryMode(bar: Bar, world: World, hostile: HostileServer, mode: HostileMode): Promise<void> {
  const { at, wanted } = CASES[mode];
  const { alice } = world;
  const added = await outcomeOf(world.add(alice, mode, hostile.url(mode)));
  if (at === "add") return checkEnd(bar, mode, wanted, added.failure);
  if (added.failure !== null) return bar.check("modes", false, () => `${mode}: it was not added: ${added.failure.message}`);
  const { serverId } = added.result;
  if (at === "refreshed call") await alice.call("sys.mcp.refresh", { serverId });
  const calls = countCalls(hostile, mode);
  const called = await callTool(alice, serverId, "t", { timeoutMs: TIMEOUT_MS });
  checkEnd(bar, mode, wanted, called.failure);
  if (called.result !== null)
    bar.check("modes", JSON.stringify(called.result.content).includes('"text"'), () => `${mode}: ${JSON.stringify(called.result)}`);
  // They leave beside the result, and not after the connection has been closed.
  if (mode === "asksForMore") await until(() => repliesOf(hostile).length === QUESTIONS);
  const sent = countCalls(hostile, mode) - calls;
  const isNever = at === "refreshed call";
  bar.check("sent", isNever ? sent === 0 : sent > 0, () => `${mode}: the tool was called ${sent} times`);
  if (!mode.startsWith("redirects")) bar.check("sent", sent <= 1, () => `${mode}: the call was sent ${sent} times`);
  bar.check("modes", hostile.requests.filter(({ path }) => isOf(path, mode)).length < REQUESTS_MAX, () => `${mode}: a flood of requests`);
  await alice.call("sys.mcp.remove", { serverId });
}

function checkEnd(bar: Bar, mode: HostileMode, wanted: Wanted, failure: Failure | null): void {
  if (wanted === "ok") return bar.check("modes", failure === null, () => `${mode}: ${failure?.code} ${failure?.message}`);
  const isRight = failure !== null && failure.code === wanted.code && wanted.says.test(failure.message);
  bar.check("modes", isRight, () => `${mode}: ${failure === null ? "it succeeded" : `${failure.code} ${failure.message}`}`);
  if (failure === null) return;
  bar.check("texts", isClearText(failure.message), () => `${mode}: ${JSON.stringify(failure.message)}`);
  const isSaid = failure.details["outcome"] === "unknown" && /may|unknown/.test(failure.message);
  bar.check("outcomes", wanted.ran === isSaid, () => `${mode}: ${failure.message} ${JSON.stringify(failure.details)}`);
}

async function closeAll(bar: Bar, world: World, hostile: HostileServer): Promise<void> {
  bar.check("sockets", await until(() => hostile.openSockets === 0), () => `${hostile.openSockets} sockets to removed servers are open`);
  const replies = repliesOf(hostile);
  bar.check("asked", replies.length === QUESTIONS, () => `${replies.length} of the server's questions were answered`);
  for (const { body } of replies)
    bar.check("asked", body.includes('"error"') && !body.includes('"result"'), () => `a server that asks was told ${body}`);
  const foreign = await world.gateway.foreignNames();
  bar.check("prototypes", foreign.length === 0, () => `all objects have ${foreign.join(", ")}`);
  bar.check("elsewhere", world.canaryHits === 0, () => `the canary was contacted ${world.canaryHits} times`);
  await hostile.close();
}

function repliesOf({ requests }: HostileServer) {
  return requests.filter(({ path, body }) => isOf(path, "asksForMore") && /"id":"s\d"/.test(body));
}

function countCalls({ requests }: HostileServer, mode: HostileMode): number {
  return requests.filter(({ path, body }) => isOf(path, mode) && body.includes('"tools/call"')).length;
}

function isOf(path: string, mode: string): boolean {
  return path.startsWith(`/${mode}/`);
}

/** Text of a server in an error: whatever it says. */
export async function tryTexts(bar: Bar, world: World): Promise<void> {
  const texts = ["two\nlines\r\nand three", "\u001b[2J\u001b]0;title\u0007", "\u202egnihton", "x".repeat(500_000), "\u2028\u0085", ""];
  const tools = texts.map((text, at) => ({
    name: `says${at}`,
    description: "fails",
    inputSchema: { type: "object" },
    run: () => Promise.reject(new Error(text)),
  }));
  const server = await world.serve({ tools });
  const { serverId } = await world.add(world.alice, "Talker", server.url);
  for (const { name } of tools) {
    const { failure } = await callTool(world.alice, serverId, name);
    bar.check("texts", failure?.code === 503 && isClearText(failure.message), () => `${name}: ${JSON.stringify(failure?.message)}`);
  }
  await world.alice.call("sys.mcp.remove", { serverId });
}

/** Calls of bob, who has servers that behave, one after the other. */
function askOthers(world: World): { end(): Promise<{ longestMs: number; failed: unknown; answers: number }> } {
  const state = { isOver: false, longestMs: 0, failed: null as unknown, answers: 0 };
  const ask = async () => {
    const { serverId } = await world.add(world.bob, "Good", world.good.url);
    while (!state.isOver) {
      const from = performance.now();
      await world.bob.call("sys.mcp.call", { serverId, name: "echo", arguments: { text: "hi" } });
      await world.bob.call("sys.mcp.list", {});
      state.longestMs = Math.max(state.longestMs, performance.now() - from);
      state.answers++;
    }
    await world.bob.call("sys.mcp.remove", { serverId });
  };
  const asking = ask().catch((error: unknown) => void (state.failed = error));
  return {
    async end() {
      state.isOver = true;
      await asking;
      return state;
    },
  };
}

/** An agent's script, whose owner approves everything, calls tools that fail, and one that does not. */
export async function tryAgent(bar: Bar, world: World): Promise<void> {
  const { bob, model } = world;
  const hostile = world.keep(await startHostileServer({ elsewhere: world.canaryUrl }));
  await world.allow(hostile.url("hang"));
  const modes = ["serverError", "closesMidCall", "deepJson", "prototypeNames"] as const;
  const added = [];
  for (const mode of modes) added.push(await world.add(bob, mode, hostile.url(mode)));
  added.push(await world.add(bob, "Good", world.good.url));
  const code = `const said = [];
    for (const tool of [serverError_t, closesMidCall_t, deepJson_t, prototypeNames_t])
      said.push(await tool({}).then(() => "ok", (error) => error.message));
    return { said, echo: await echo({ text: "still here" }), polluted: ({}).polluted ?? null };`;
  model.on("Try the tools.", wants(["CodeMode", { code }]), says("Some of them failed."));
  const { pid } = await bob.call("proc.spawn", { profile: "task" });
  const end = await endOfRun(bob, pid, "Try the tools.");
  bar.check("agent", end["status"] === "ok", () => `the run ended with ${JSON.stringify(end)}`);
  const { messages } = await bob.call("proc.history", { pid, limit: 100 });
  const history = JSON.stringify(messages);
  bar.check("agent", history.includes("Some of them failed."), () => `there is no answer: ${history.slice(-500)}`);
  bar.check(
    "agent",
    /still here/.test(history) && /HTTP 500/.test(history) && /nested too deeply/.test(history),
    () => `its script was not told: ${history.slice(-1_000)}`,
  );
  for (const { serverId } of added) await bob.call("sys.mcp.remove", { serverId });
  await bob.call("proc.kill", { pid });
  await hostile.close();
}

const RUN_TIMEOUT_MS = 60_000;

function endOfRun(client: Client, pid: string, message: string): Promise<Record<string, unknown>> {
  const runId = randomUUID();
  return new Promise((resolve, reject) => {
    const guard = setTimeout(() => reject(new Error("the agent's run did not end")), RUN_TIMEOUT_MS);
    const following = client.follow({
      pid,
      onEvent: ({ signal, payload }) => {
        if (signal === "proc.run.hil.requested")
          client.call("proc.hil", { pid, requestId: payload.requestId, decision: "approve" }).catch(reject);
        if (signal !== "proc.run.finished" || payload.runId !== runId) return;
        clearTimeout(guard);
        following.stop();
        resolve(payload);
      },
    });
    following.begun.then(() => client.call("proc.send", { pid, runId, message })).catch(reject);
  });
}
