// Scripts of a model: their calls, their questions to people, and what remains of them when the gateway is lost.

import { afterEach, expect, it, vi } from "vitest";
import { makeSqlThatLosesWrites, tool, question, text, World } from "../../../test/support/process-world.ts";
import { deferred } from "../../lib/deferred.ts";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { HIL_REQUESTED } from "../../protocol/signal-names.ts";
import type { SysCall, SysOutcome } from "../kernel-port.ts";

afterEach(() => void vi.useRealTimers());

const script = (code: string) => tool("CodeMode", { code });
const done = (value: unknown): SysOutcome => ({ kind: "done", isError: false, output: "shown", json: JSON.stringify(value) });

/** Allows scripts, and answers their calls. */
function answerCalls(
  world: World,
  answer: (call: SysCall, signal: AbortSignal, onStart: () => void) => SysOutcome | Promise<SysOutcome>,
): void {
  world.sys = async (call, onStart, signal) =>
    call.syscall === "codemode.exec" ? { kind: "done", isError: false, output: "" } : answer(call, signal, onStart);
}

/** Asks about writes until the test has answered. */
function askAboutWrites(world: World): { approved: Set<string> } {
  const approved = new Set<string>();
  answerCalls(world, ({ callId, runId, syscall, args }) =>
    syscall === "fs.write" && !approved.has(callId)
      ? { kind: "asked", request: { ...question(`q ${String(args.path)}`, runId), callId, syscall } }
      : done({ ok: true, path: args.path }),
  );
  return { approved };
}

const nested = (world: World) => world.effects.filter(({ scriptCallId }) => scriptCallId !== undefined);
const paused = (world: World) => expect.poll(() => world.process.isWaitingForPerson, { interval: 1 }).toBe(true);

/** The calls that are kept with the result of the script, as words. */
const kept = (world: World) =>
  world.process.history.page("default", 0, 10).messages.flatMap((message) => {
    const scriptCalls = message.role === "toolResult" ? message.scriptCalls : undefined;
    if (scriptCalls === undefined) return [];
    expect(scriptCalls.count).toBe(scriptCalls.calls.length);
    return scriptCalls.calls.map(({ name, args, ok, outcome }) => `${name} ${String(args.path ?? args.input)} ${outcome ?? ok}`);
  });

/** A person approves: the next send of the call runs. */
function approve(world: World, approved: Set<string>, path: string): void {
  for (const { callId, args } of nested(world)) if (args.path === path) approved.add(callId);
  world.process.handleDecision(`q ${path}`);
}

it("runs a script in one tool call, with its calls as calls of the process", async () => {
  const world = new World();
  answerCalls(world, ({ syscall, args }) => done({ syscall, args }));
  const call = script('const a = await fs.read({ path: "x" }); const b = await shell("ls", { target: "mac" }); return [a, b];');
  world.on("go", [call], [text("thanks")]);
  const { runId } = world.say("go");
  await world.idle();
  expect(nested(world).map(({ tool: name, syscall, args, runId: of }) => ({ name, syscall, args, of }))).toEqual([
    { name: "Read", syscall: "fs.read", args: { path: "x" }, of: runId },
    { name: "Shell", syscall: "shell.exec", args: { input: "ls", target: "mac" }, of: runId },
  ]);
  expect(nested(world).every(({ callId }) => callId.startsWith("codemode-"))).toBe(true);
  const result = {
    status: "completed",
    result: [
      { syscall: "fs.read", args: { path: "x" } },
      { syscall: "shell.exec", args: { target: "mac", input: "ls" } },
    ],
  };
  expect(world.history()).toEqual(["user: go", "assistant: toolCall", `result: ${JSON.stringify(result)}`, "assistant: thanks"]);
  expect(kept(world)).toEqual(["Read x true", "Shell ls true"]);
  // The model is told what the script returned, and nothing else.
  expect(JSON.stringify(world.requests)).not.toContain("scriptCalls");
  // The script and its two calls.
  expect(world.process.readSpent(runId)).toMatchObject({ toolCalls: 3 });
});

it("reports the calls of a script to followers, with the call that runs it", async () => {
  const world = new World();
  answerCalls(world, ({ args }) =>
    args.path === "bad"
      ? { kind: "done", isError: true, output: "no such file" }
      : args.path === "secret"
        ? { kind: "done", isError: true, output: "not allowed", outcome: "denied" }
        : done({ ok: true }),
  );
  const call = script(
    'await fs.read({ path: "x" }); await fs.read({ path: "secret" }).catch(() => {}); try { await fs.read({ path: "bad" }) } catch (e) { return e.message }',
  );
  world.on("go", [call], [text("thanks")]);
  world.say("go");
  await expect.poll(() => world.ends()).toHaveLength(1);
  const scriptCallId = "id" in call ? call.id : "";
  const told = world.events.flatMap(({ signal, payload }) =>
    signal.startsWith("proc.run.tool") && "scriptCallId" in payload ? [{ signal, payload }] : [],
  );
  expect(told.map(({ signal, payload }) => [signal, payload.scriptCallId, "ok" in payload ? payload.ok : null])).toEqual([
    ["proc.run.tool.started", scriptCallId, null],
    ["proc.run.tool.finished", scriptCallId, true],
    ["proc.run.tool.finished", scriptCallId, false],
    ["proc.run.tool.started", scriptCallId, null],
    ["proc.run.tool.finished", scriptCallId, false],
  ]);
  // Nobody has told its arguments before.
  expect(told.map(({ payload }) => "ok" in payload && payload.args)).toEqual([false, undefined, { path: "secret" }, false, undefined]);
  expect(world.history()[2]).toBe('result: {"status":"completed","result":"no such file"}');
});

it("suspends a script while a person is asked, and continues it with its variables", async () => {
  const world = new World();
  const { approved } = askAboutWrites(world);
  world.on(
    "go",
    [script('const n = 41; const { path } = await fs.write({ path: "a", content: "" }); return path + (n + 1);')],
    [text("ok")],
  );
  world.say("go");
  await paused(world);
  const [{ callId: scriptCallId } = { callId: "" }] = world.effects;
  const asked = () => world.events.filter(({ signal }) => signal === HIL_REQUESTED);
  await expect.poll(asked).toMatchObject([{ payload: { scriptCallId } }]);
  approve(world, approved, "a");
  await world.idle();
  expect(world.history()[2]).toBe('result: {"status":"completed","result":"a42"}');
  // The same call was sent twice: about the first, a person was asked.
  expect(new Set(nested(world).map(({ callId }) => callId)).size).toBe(1);
});

it("continues a suspended script after a restart", async () => {
  const world = new World();
  const { approved } = askAboutWrites(world);
  world.on("go", [script('const n = 41; await fs.write({ path: "a", content: "" }); return n + 1;')], [text("ok")]);
  world.say("go");
  await paused(world);
  world.die();
  world.begin();
  approve(world, approved, "a");
  await world.idle();
  expect(world.history()[2]).toBe('result: {"status":"completed","result":42}');
});

it("continues a script that waits for several people's answers, in any order, one restart between them", async () => {
  const world = new World();
  const { approved } = askAboutWrites(world);
  const code = `const seen = [];
    const one = async (path) => { await fs.write({ path, content: "" }); seen.push(path); await fs.read({ path }); };
    await Promise.all([one("a"), one("b"), fs.read({ path: "c" })]);
    return seen;`;
  world.on("go", [script(code)], [text("ok")]);
  world.say("go");
  await paused(world);
  approve(world, approved, "b");
  await expect.poll(() => nested(world).filter(({ syscall }) => syscall === "fs.read").length, { interval: 1 }).toBe(2);
  await paused(world);
  world.die();
  world.begin();
  approve(world, approved, "a");
  await world.idle();
  expect(world.history()[2]).toBe('result: {"status":"completed","result":["b","a"]}');
  expect(kept(world).toSorted()).toEqual(["Read a true", "Read b true", "Read c true", "Write a true", "Write b true"]);
});

it("tells a script that a person denied a call", async () => {
  const world = new World();
  let isDenied = false;
  answerCalls(world, ({ callId, runId }) =>
    isDenied
      ? { kind: "done", isError: true, outcome: "denied", output: "Tool execution denied by user" }
      : { kind: "asked", request: { ...question("q", runId), callId } },
  );
  world.on("go", [script('try { await shell("rm x") } catch (e) { return "caught: " + e.message }')], [text("ok")]);
  world.say("go");
  await paused(world);
  isDenied = true;
  world.process.handleDecision("q");
  await world.idle();
  expect(world.history()[2]).toBe('result: {"status":"completed","result":"caught: Tool execution denied by user"}');
  expect(kept(world)).toEqual(["Shell rm x denied"]);
});

it("reports a script as interrupted that was running when the gateway was lost, and makes none of its calls again", async () => {
  const world = new World();
  answerCalls(world, () => new Promise(() => {}));
  world.on("go", [script('await fs.write({ path: "a", content: "" }); return 1;')], [text("ok")]);
  world.say("go");
  await expect.poll(() => nested(world).length, { interval: 1 }).toBe(1);
  world.die();
  world.begin();
  world.process.onWake();
  await world.idle();
  expect(nested(world)).toHaveLength(1);
  expect(world.history()[2]).toContain('failed: {"status":"failed","error":"interrupted"');
  // Also a question that the kernel stored just before.
  expect(world.keptQuestions).toEqual([[]]);
});

it("ends a suspended script at the next start if another engine took its snapshot, and withdraws its question", async () => {
  const world = new World();
  askAboutWrites(world);
  world.on("go", [script('await fs.write({ path: "a", content: "" }); return 1;')], [text("ok")]);
  world.say("go");
  await paused(world);
  const [{ callId } = { callId: "" }] = nested(world);
  world.die();
  world.engine = "another";
  world.begin();
  world.process.onWake();
  await world.idle();
  expect(world.history()[2]).toContain('failed: {"status":"failed","error":"interrupted"');
  expect(world.withdrawn).toEqual([callId]);
  const ended = () =>
    world.events.flatMap(({ payload }) => ("callId" in payload && payload.callId === callId && "ok" in payload ? [payload] : []));
  await expect.poll(ended).toMatchObject([{ ok: false, outcome: "stopped" }]);
});

it("withdraws the question of a script that ended without the answer", async () => {
  const world = new World();
  askAboutWrites(world);
  world.on(
    "go",
    [script('await Promise.race([fs.write({ path: "a", content: "" }), fs.read({ path: "b" })]); throw new Error("enough");')],
    [text("ok")],
  );
  world.say("go");
  await world.idle();
  expect(world.withdrawn).toHaveLength(1);
  expect(world.history()[2]).toContain('"error":"enough"');
});

it("reports calls that a script did not wait for as stopped", async () => {
  const world = new World();
  answerCalls(world, ({ args }, signal, onStart) => {
    if (args.path === "b") return done({ ok: true });
    onStart();
    return new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve({ kind: "done", isError: true, output: "too late" }), { once: true }),
    );
  });
  world.on("go", [script('fs.read({ path: "a" }); await fs.read({ path: "b" }); throw new Error("enough");')], [text("ok")]);
  world.say("go");
  await expect.poll(() => world.ends()).toHaveLength(1);
  const ends = world.events.flatMap(({ payload }) =>
    "scriptCallId" in payload && "ok" in payload ? [[payload.ok, "outcome" in payload ? payload.outcome : null]] : [],
  );
  expect(ends).toEqual([
    [true, null],
    [false, "stopped"],
  ]);
});

it("tells a script that a call which it gives up may have run", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const world = new World();
  const sent = deferred();
  answerCalls(world, () => (sent.resolve(), new Promise(() => {})));
  world.on("go", [script('return await fs.write({ path: "a", content: "" });')], [text("ok")]);
  world.say("go");
  await sent.promise;
  await vi.advanceTimersByTimeAsync(55_000);
  await expect.poll(() => world.ends()).toHaveLength(1);
  expect(world.history()[2]).toMatch(/Timed out waiting for fs.write after 55 s. The outcome is unknown/);
});

it("shows a file that could not be read as a failed call, and gives the script the result", async () => {
  const world = new World();
  const data = { ok: false, error: "no such file" };
  answerCalls(world, () => ({ kind: "done", isError: true, output: data.error, json: JSON.stringify(data) }));
  world.on("go", [script('return await fs.read({ path: "a" });')], [text("ok")]);
  world.say("go");
  await expect.poll(() => world.ends()).toHaveLength(1);
  expect(world.history()[2]).toBe(`result: ${JSON.stringify({ status: "completed", result: data })}`);
  const ends = world.events.flatMap(({ payload }) => ("scriptCallId" in payload && "ok" in payload ? [payload] : []));
  expect(ends).toMatchObject([{ ok: false, error: "no such file" }]);
});

it("keeps a question that another call of the run waits for", async () => {
  const world = new World();
  const approved = new Set<string>();
  const writes = () => nested(world).filter(({ syscall }) => syscall === "fs.write").length;
  // The kernel asks once about the same call, so both scripts wait for one answer. The first one ends when the other one waits too.
  answerCalls(world, async ({ callId, runId, syscall }) => {
    if (syscall === "fs.write")
      return approved.has(callId) ? done(null) : { kind: "asked", request: { ...question("q a", runId), callId } };
    await expect.poll(writes, { interval: 1 }).toBe(2);
    await yieldToEventLoop();
    return done(null);
  });
  const write = 'fs.write({ path: "a", content: "" })';
  // Calls that name a device run in parallel.
  const parallel = (code: string) => tool("CodeMode", { code, target: "mac" });
  world.on(
    "go",
    [parallel(`${write}; await fs.read({ path: "b" }); throw new Error("enough");`), parallel(`return await ${write}`)],
    [text("ok")],
  );
  world.say("go");
  await expect
    .poll(() => world.events.some(({ payload }) => "name" in payload && payload.name === "CodeMode" && "ok" in payload))
    .toBe(true);
  expect(world.withdrawn).toEqual([]);
  approve(world, approved, "a");
  await world.idle();
  expect(world.history()).toContain('result: {"status":"completed","result":null}');
});

it("shows followers the beginning of long arguments, and runs the call with all of them", async () => {
  const world = new World();
  answerCalls(world, ({ args }) => done({ size: String(args.content).length }));
  world.on("go", [script('return await fs.write({ path: "a", content: "\u4e2d".repeat(800000) });')], [text("ok")]);
  world.say("go");
  await expect.poll(() => world.ends()).toHaveLength(1);
  expect(world.history()[2]).toBe('result: {"status":"completed","result":{"size":800000}}');
  const [started] = world.events.flatMap(({ payload }) => ("scriptCallId" in payload && "args" in payload ? [payload.args] : []));
  expect(started).toMatchObject({ path: "a", content: expect.stringMatching(/^\u4e2d{2000}…$/) });
});

it("ends a script with its run", async () => {
  const world = new World();
  let signalOfCall: AbortSignal | undefined;
  answerCalls(world, (_, signal, onStart) => {
    signalOfCall = signal;
    onStart();
    return new Promise(() => {});
  });
  world.on("go", [script('await shell("sleep 1000")')]);
  world.say("go");
  await expect.poll(() => signalOfCall, { interval: 1 }).toBeDefined();
  world.process.abort();
  await world.idle();
  expect(signalOfCall!.aborted).toBe(true);
  await expect.poll(() => world.ends().map(([, status]) => status)).toEqual(["aborted"]);
  expect(kept(world)).toEqual(["Shell sleep 1000 stopped"]);
});

it("does not run a script that the kernel refuses", async () => {
  const world = new World();
  world.sys = async () => ({ kind: "done", isError: true, output: "Error: Permission denied: codemode.exec" });
  world.on("go", [script("return 1")], [text("ok")]);
  world.say("go");
  await world.idle();
  expect(world.history()[2]).toBe("failed: Error: Permission denied: codemode.exec");
});

it("survives a crash at every step: the run ends once, no call runs twice, and nothing remains of the script", async () => {
  const code = `let total = 0;
    const one = async (path) => { await fs.write({ path, content: "" }); total += 1; };
    await Promise.all([one("a"), one("b")]);
    await fs.read({ path: "c" });
    await one("d");
    return total;`;
  const { steps } = await crashAt(Number.POSITIVE_INFINITY, code);
  expect(steps).toBeGreaterThan(10);
  for (let step = 1; step <= steps; step++) {
    const { world, ran } = await crashAt(step, code);
    const where = `died at ${step}`;
    expect(world.history().slice(-1), where).toEqual(["assistant: ok"]);
    expect(world.history()[2], where).toMatch(
      /^result: \{"status":"completed","result":3\}$|^failed: \{"status":"failed","error":"interrupted"/,
    );
    expect(new Set(ran).size, where).toBe(ran.length);
    for (const table of ["scripts", "script_calls", "script_snapshots"])
      expect(world.sql.get(`SELECT count(*) AS n FROM ${table}`), `${where}: ${table}`).toEqual({ n: 0 });
  }
});

/** Runs a script whose writes are asked about and approved at once. `ran` has the calls that had an effect. */
async function crashAt(step: number, code: string): Promise<{ world: World; ran: string[]; steps: number }> {
  const world = new World(makeSqlThatLosesWrites());
  const ran: string[] = [];
  const asked = new Map<string, string>();
  // As the kernel does: what was sent once and is sent again does not run again.
  answerCalls(world, ({ callId, runId, syscall, args, isRepeat }) => {
    if (syscall === "fs.write" && !asked.has(callId)) {
      asked.set(callId, `q ${callId}`);
      return { kind: "asked", request: { ...question(`q ${callId}`, runId), callId, syscall } };
    }
    if (!isRepeat || !ran.includes(callId)) ran.push(callId);
    return done({ ok: true, path: args.path });
  });
  world.crashAt = step;
  world.on("go", [script(code)], [text("ok")]);
  world.say("go", { runId: "mine" });
  const tick = () => {
    if (world.hasDied) {
      world.begin();
      world.say("go", { runId: "mine" });
      world.process.onWake();
    }
    for (const requestId of asked.values()) world.process.handleDecision(requestId);
    return world.process.activeRun === undefined && world.history().at(-1) === "assistant: ok";
  };
  await expect.poll(tick, { interval: 1 }).toBe(true);
  return { world, ran, steps: world.steps };
}
