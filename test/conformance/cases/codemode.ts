// Scripts: those of agents (codemode.exec) and those of people (codemode.run, the command codemode).

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { plugIn } from "../../support/devices.ts";
import { says, wants } from "../../support/models/scripted.ts";
import { stages, watch, type Watched } from "../stage.ts";
import { expectRefusal, verifies } from "../verifies.ts";

const script = (code: string) => wants(["CodeMode", { code }]);
const homeOf = (client: Client) => client.session.identity.process.home;

/** The result of the last script of an agent. */
async function resultOf(agent: Watched): Promise<Record<string, unknown>> {
  return JSON.parse((await agent.result()).output) as Record<string, unknown>;
}

/** Events about calls that scripts make. */
function nestedEvents(agent: Watched, signal: string): Record<string, unknown>[] {
  return agent.of(signal).filter(({ scriptCallId }) => scriptCallId !== undefined);
}

verifies("codemode.exec:agents-only", async ({ alice, root }) => {
  for (const client of [await alice(), await root()])
    await expectRefusal(client.call("codemode.exec", { code: "return 1" }), 403, "Permission denied: codemode.exec");
});

stages("codemode.exec:tools", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const code = `
    await fs.write({ path: "notes.txt", content: "one\\ntwo\\n" });
    await fs.edit({ path: "notes.txt", oldString: "two", newString: "three" });
    const { content } = await fs.read({ path: "notes.txt", plain: true });
    const found = await fs.search({ path: ".", query: "three" });
    const here = await shell("wc -l < notes.txt");
    return { content, matches: found.count, here };`;
  model.on("Use the tools.", script(code), says("Used."));
  expect(await agent.ask("Use the tools.")).toMatchObject({ status: "ok", text: "Used." });
  expect(await resultOf(agent)).toMatchObject({
    status: "completed",
    result: { content: "one\nthree\n", matches: 1, here: { status: "completed", exitCode: 0, output: expect.stringMatching(/2/) } },
  });
  expect(await ann.call("fs.read", { path: `${homeOf(ann)}/notes.txt`, plain: true })).toMatchObject({ content: "one\nthree\n" });
});

stages("codemode.exec:devices", async ({ spawn, model, ann, world, set }) => {
  const agent = await spawn();
  const device = await plugIn(world.host, ann, "anvil");
  // The policy of the parent counts too.
  for (const profile of ["task", "init"])
    await set(`config/ai/profile/${profile}/tools/approval`, JSON.stringify({ default: "auto", rules: [] }));
  const code = `
    await fs.write({ target: "anvil", path: "a.txt", content: "from a script" });
    let res = await shell("sleep 0.6; cat a.txt", { target: "anvil" });
    let output = res.output, polls = 0;
    while (res.status === "running") { res = await shell("", { sessionId: res.sessionId }); output += res.output; polls++; }
    return { output, hasPolled: polls > 0, absent: await fs.read({ target: "anvil", path: "absent" }) };`;
  model.on("Go to the device.", script(code), says("Went."));
  await agent.ask("Go to the device.");
  expect(await resultOf(agent)).toMatchObject({
    status: "completed",
    result: { output: "from a script", hasPolled: true, absent: { ok: false, error: expect.any(String) } },
  });
  device.close();
});

stages("codemode.exec:signals", async ({ spawn, model }) => {
  const agent = await spawn();
  model.on("Look twice.", script('await shell("echo one"); await fs.read({ path: "/etc/passwd" }); return 1;'), says("Looked."));
  const { runId } = await agent.ask("Look twice.");
  const [started, ended] = [nestedEvents(agent, "proc.run.tool.started"), nestedEvents(agent, "proc.run.tool.finished")];
  expect(started.map(({ name, syscall, runId: of }) => [name, syscall, of])).toEqual([
    ["Shell", "shell.exec", runId],
    ["Read", "fs.read", runId],
  ]);
  expect(ended.map(({ ok }) => ok)).toEqual([true, true]);
  expect(started.every(({ callId }) => String(callId).startsWith("codemode-"))).toBe(true);
  const script1 = agent.of("proc.run.tool.started").find(({ name }) => name === "CodeMode")!;
  expect(new Set([...started, ...ended].map(({ scriptCallId }) => scriptCallId))).toEqual(new Set([script1.callId]));
  // Only the script itself is in the history.
  const { messages } = await agent.history();
  expect(messages.filter(({ role }) => role === "toolResult")).toHaveLength(1);
});

stages("codemode.exec:envelope", async ({ spawn, model }) => {
  const agent = await spawn();
  const failing = 'console.log("a", { b: 1 });\nconsole.warn("w");\nfunction fall() {\n  throw new Error("fell");\n}\nfall();';
  model.on("Fail.", script(failing), says("Failed."));
  await agent.ask("Fail.");
  expect((await agent.result()).isError).toBe(true);
  const failed = await resultOf(agent);
  expect(failed).toMatchObject({ status: "failed", error: "fell", logs: ['a {"b":1}', "[warn] w"] });
  expect(failed.stack).toMatch(/fall.*script\.js:4:.*script\.js:6:/s);
  const forms: [string, unknown][] = [
    ["```js\nreturn 1\n```", 1],
    ["export default async () => 2", 2],
    ["async function main() { return 3 }", 3],
    ["const x = await Promise.resolve(4); return x", 4],
  ];
  for (const [code, result] of forms) {
    model.on(code, script(code), says("Ran."));
    await agent.ask(code);
    expect(await resultOf(agent), code).toEqual({ status: "completed", result });
  }
});

stages("codemode.exec:confined", async ({ spawn, model }) => {
  const agent = await spawn();
  const code = `
    const names = ["fetch", "WebSocket", "process", "require", "Deno", "caches", "importScripts", "WebAssembly", "Worker", "crypto"];
    const imported = await import("node:fs").then(() => "imported", (error) => "refused");
    return [...names.filter((name) => typeof globalThis[name] !== "undefined"), imported, Function("return typeof process")()];`;
  model.on("Get out.", script(code), says("No."));
  await agent.ask("Get out.");
  expect(await resultOf(agent)).toEqual({ status: "completed", result: ["refused", "undefined"] });
});

stages("codemode.exec:asks", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const path = `${homeOf(ann)}/condemned.txt`;
  await ann.call("fs.write", { path, content: "x" });
  const code = `const before = 41;
    const gone = await fs.delete({ path: ${JSON.stringify(path)} });
    let refused = "";
    try { await shell("rm -rf other"); } catch (error) { refused = error.message; }
    return { ok: gone.ok, sum: before + 1, refused };`;
  model.on("Clean.", script(code), says("Cleaned."));
  const runId = await agent.say("Clean.");
  const first = await agent.asked();
  expect(first).toMatchObject({ runId, toolName: "Delete", syscall: "fs.delete", args: { path } });
  expect((await ann.call("fs.read", { path })).ok).toBe(true);
  await agent.answer(first.requestId, "approve");
  const second = await agent.asked(2);
  expect(second).toMatchObject({ toolName: "Shell", args: { input: "rm -rf other" } });
  await agent.answer(second.requestId, "deny", { reason: "not that" });
  expect(await agent.finished(runId)).toMatchObject({ status: "ok", text: "Cleaned." });
  expect(await resultOf(agent)).toEqual({
    status: "completed",
    result: { ok: true, sum: 42, refused: "Tool execution denied by user: not that" },
  });
  expect((await ann.call("fs.read", { path })).ok).toBe(false);
});

stages("codemode.exec:restart", async ({ spawn, model, ann, again, world }) => {
  const agent = await spawn();
  const path = `${homeOf(ann)}/patient.txt`;
  await ann.call("fs.write", { path, content: "x" });
  const code = `const kept = new Map([["n", 41]]);
    await fs.delete({ path: ${JSON.stringify(path)} });
    return kept.get("n") + 1;`;
  model.on("Wait.", script(code), says("Waited."));
  const runId = await agent.say("Wait.");
  const { requestId } = await agent.asked();
  // Asked is not yet suspended: a script that still runs would not survive.
  const pausedAt = async () => (await ann.call("proc.usage", { pid: agent.pid })).activeRun?.pausedAt;
  await expect.poll(pausedAt).toEqual(expect.any(Number));
  agent.stop();
  await world.host.restart();
  const later = await watch(await again(), agent.pid);
  await later.answer(requestId, "approve");
  expect(await later.finished(runId)).toMatchObject({ status: "ok", text: "Waited." });
  expect(await resultOf(later)).toEqual({ status: "completed", result: 42 });
  later.stop();
});

stages("codemode.exec:stops", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  model.on("Never end.", script('await shell("echo begun"); await shell("sleep 600"); return 1;'), says("No."));
  const runId = await agent.say("Never end.");
  await expect.poll(() => nestedEvents(agent, "proc.run.tool.started").length).toBe(2);
  await ann.call("proc.abort", { pid: agent.pid });
  expect(await agent.finished(runId)).toMatchObject({ status: "aborted" });
  await expect.poll(async () => (await ann.call("proc.list", {})).processes.find(({ pid }) => pid === agent.pid)?.state).toBe("idle");
});

stages("codemode.exec:policy", async ({ spawn, model, set }) => {
  const agent = await spawn();
  await set(
    "config/ai/profile/task/tools/approval",
    JSON.stringify({
      default: "auto",
      rules: [
        { match: "codemode.exec", action: "ask" },
        { match: "fs.read", action: "deny" },
      ],
    }),
  );
  const code = 'try { return await fs.read({ path: "/etc/passwd" }); } catch (error) { return error.message; }';
  model.on("Read it.", script(code), says("Read."));
  const runId = await agent.say("Read it.");
  const asked = await agent.asked();
  expect(asked).toMatchObject({ toolName: "CodeMode", syscall: "codemode.exec", args: { code } });
  await agent.answer(asked.requestId, "approve");
  await agent.finished(runId);
  // A script that a person has approved may do no more than its calls may.
  expect((await resultOf(agent)).result).toMatch(/^Tool execution denied by policy/);
});

verifies("codemode.run:script", async ({ alice }) => {
  const client = await alice();
  const home = homeOf(client);
  await client.call("fs.write", { path: `${home}/scripts/data.txt`, content: "abc" });
  const code = `const file = await fs.read({ path: "data.txt" });
    return { argv, args, path: file.path, pwd: (await shell("pwd")).output, who: (await shell("whoami", { cwd: "/" })).output };`;
  const run = { code, cwd: `${home}/scripts`, argv: ["a", "b"], args: { n: 1 } };
  expect(await client.call("codemode.run", run)).toEqual({
    status: "completed",
    result: { argv: ["a", "b"], args: { n: 1 }, path: `${home}/scripts/data.txt`, pwd: `${home}/scripts\n`, who: "alice\n" },
  });
  expect(await client.call("codemode.run", { code: "return [argv, args]" })).toEqual({ status: "completed", result: [[], null] });
  // No approval is needed: the person runs it themselves.
  expect(await client.call("codemode.run", { code: `return (await fs.delete({ path: "${home}/scripts/data.txt" })).ok` })).toEqual({
    status: "completed",
    result: true,
  });
  expect(await client.call("codemode.run", { code: " \n" })).toEqual({
    status: "failed",
    error: "codemode requires a non-empty code string",
  });
  expect(await client.call("codemode.run", { code: 'console.log("x"); throw new TypeError("bad")' })).toMatchObject({
    status: "failed",
    error: "bad",
    logs: ["x"],
  });
  const { process } = client.session.identity;
  expect(await client.call("codemode.run", { pid: `init:${process.uid}`, code: "return 1" })).toEqual({ status: "completed", result: 1 });
});

stages("codemode.run:device", async ({ ann, world }) => {
  const device = await plugIn(world.host, ann, "kiln", 30_000);
  const code =
    'await fs.write({ path: "deep/a.txt", content: "x" }); return [(await shell("ls deep")).output, (await fs.read({ path: "deep/a.txt" })).ok];';
  expect(await ann.call("codemode.run", { code, target: device.deviceId })).toEqual({ status: "completed", result: ["a.txt\n", true] });
  expect(
    await ann.call("codemode.run", { code: 'return (await fs.read({ target: "gsv", path: "deep/a.txt" })).ok', target: "kiln" }),
  ).toEqual({
    status: "completed",
    result: false,
  });
  // A directory of gsv is none of a device that a call names.
  const there = 'return (await fs.read({ target: "kiln", path: "deep/a.txt" })).ok';
  expect(await ann.call("codemode.run", { code: there, cwd: homeOf(ann) })).toEqual({ status: "completed", result: true });
  device.close();
});

verifies("codemode.run:foreign", async ({ alice, bob }) => {
  const [one, other] = [await alice(), await bob()];
  const { pid } = await other.call("proc.spawn", { profile: "task" });
  const run = (of: string) => one.call("codemode.run", { pid: of, code: "return 1" });
  await expectRefusal(run(pid), 404, `Process not found: ${pid}`);
  await expectRefusal(run("nobody"), 404, "Process not found: nobody");
});

verifies("codemode.run:rights", async ({ alice, bob }) => {
  const [one, other] = [await alice(), await bob()];
  await other.call("fs.write", { path: `${homeOf(other)}/private.txt`, content: "secret" });
  const code = `const file = await fs.read({ path: ${JSON.stringify(`${homeOf(other)}/private.txt`)} });
    return [file, await fs.write({ path: "/etc/group", content: "" })];`;
  expect(await one.call("codemode.run", { code })).toMatchObject({
    status: "completed",
    result: [
      { ok: false, error: expect.stringContaining("Permission denied") },
      { ok: false, error: expect.any(String) },
    ],
  });
});

stages("codemode.run:ends", async ({ ann, somebody, root, world }) => {
  const count =
    'for (let n = 1; ; n++) { await fs.write({ path: "~/count", content: String(n) }); await new Promise((go) => setTimeout(go, 5)); }';
  const read = async (client: Client) => (await client.call("shell.exec", { input: `cat ${homeOf(client)}/count` })).output;
  const expectEnded = async (client: Client) => {
    // A write that was under way has arrived after these.
    for (let n = 0; n < 10; n++) await client.call("codemode.run", { code: 'await shell("true"); await fs.read({ path: "~" });' });
    const last = await read(client);
    // Ten turns of a loop as slow as the slower of the two below: one that still ran would have had as many.
    await client.call("shell.exec", { input: "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i > ~/turns; sleep 0.05; done" });
    expect(await read(client)).toBe(last);
  };
  // A script ends with the command that runs it.
  const counting = await ann.call("shell.exec", { input: `codemode -e '${count}'`, background: true });
  if (counting.status !== "running") throw new Error(JSON.stringify(counting));
  await expect.poll(async () => Number(await read(ann))).toBeGreaterThan(1);
  await ann.call("shell.exec", { sessionId: counting.sessionId, input: "", signal: "KILL" });
  await expectEnded(ann);
  // What a script leaves running ends with the login of whoever started it.
  const person = await somebody();
  const { username } = person.session.identity.process;
  const { token } = await person.call("sys.token.create", { kind: "user" });
  const other = await world.connect({ username, token: token.token });
  const background = 'await shell("while true; do n=$((n+1)); echo $n > ~/count; sleep 0.05; done", { background: true });';
  expect(await other.call("codemode.run", { code: background })).toMatchObject({ status: "completed" });
  await expect.poll(async () => Number(await read(person))).toBeGreaterThan(1);
  await root.call("sys.token.revoke", { tokenId: token.tokenId });
  await expectEnded(person);
});

stages("codemode.run:agent", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const path = `${homeOf(ann)}/wanted.txt`;
  await ann.call("fs.write", { path, content: "x" });
  const code = `const read = (await fs.read({ path: ${JSON.stringify(path)} })).ok;
    try { await fs.delete({ path: ${JSON.stringify(path)} }); } catch (error) { return [read, error.message]; }`;
  await ann.call("fs.write", { path: `${homeOf(ann)}/sneak.js`, content: code });
  // The second command is approved by a person, who has seen its name and not the script.
  const commands = ["codemode ~/sneak.js --json", "rm -f nothing; codemode ~/sneak.js --json"];
  model.on("Sneak.", ...commands.map((input) => wants(["Shell", { target: "gsv", input }])), says("Tried."));
  const runId = await agent.say("Sneak.");
  const asked = await agent.asked();
  expect(asked).toMatchObject({ toolName: "Shell", args: { input: commands[1] } });
  await agent.answer(asked.requestId, "approve");
  await agent.finished(runId);
  const results = (await agent.history()).messages
    .filter(({ role }) => role === "toolResult")
    .map(({ content }) => JSON.stringify(content));
  expect(results).toHaveLength(2);
  for (const result of results) expect(result).toMatch(/nobody can be asked inside a command\. Use the Delete tool/);
  expect((await ann.call("fs.read", { path })).ok).toBe(true);
});

verifies("codemode.run:command", async ({ alice }) => {
  const client = await alice();
  const home = homeOf(client);
  const sh = async (input: string) => {
    const done = await client.call("shell.exec", { input, cwd: home });
    if (done.status !== "completed" && done.status !== "failed") throw new Error(JSON.stringify(done));
    return done;
  };
  await client.call("fs.write", { path: `${home}/cm/show.js`, content: 'console.warn("careful"); return { argv, args };' });
  expect(await sh("codemode -e 'return await shell(\"pwd\")' --cwd cm --json")).toMatchObject({
    exitCode: 0,
    output: expect.stringContaining(`"output": "${home}/cm\\n"`),
  });
  for (const form of ["codemode cm/show.js", "codemode run cm/show.js", "codemode - < cm/show.js"]) {
    const { output, exitCode } = await sh(`${form} --arg a=1 --arg b=c=d -- x -y 2> cm/err`);
    expect([JSON.parse(output), exitCode], form).toEqual([{ argv: ["x", "-y"], args: { a: "1", b: "c=d" } }, 0]);
    expect((await sh("cat cm/err")).output).toBe("[warn] careful\n");
  }
  expect(JSON.parse((await sh("codemode cm/show.js --args-json '[1]' 2>/dev/null")).output)).toMatchObject({ args: [1] });
  // Text is printed as it is, nothing for null.
  expect((await sh("codemode -e 'return \"plain\"'")).output).toBe("plain\n");
  expect((await sh("codemode -e 'return null'")).output).toBe("");
  const failed = await sh("codemode -e 'throw new Error(\"no\")' 2>&1");
  expect(failed).toMatchObject({ exitCode: 1, output: expect.stringMatching(/^codemode: Error: no\n {4}at script\.js:1/) });
  const envelope = await sh("codemode --json -e 'console.log(1); throw new Error(\"no\")'");
  expect([JSON.parse(envelope.output), envelope.exitCode]).toMatchObject([{ status: "failed", error: "no", logs: ["1"] }, 1]);
  const refusals: [string, number][] = [
    ["codemode", 2],
    ["codemode -e 'return 1' cm/show.js", 2],
    ["codemode cm/absent.js", 1],
    ["codemode -e 'return 1' --args-json '{'", 2],
    ["codemode -e 'return 1' --arg novalue", 2],
    ["codemode --fast cm/show.js", 2],
    ["codemode -e 'return 1' --target nowhere; codemode --target nowhere -e 'return (await shell(\"ls\")).status'", 1],
  ];
  for (const [input, exitCode] of refusals)
    expect(await sh(`${input} 2>&1`), input).toMatchObject({ exitCode, output: expect.stringContaining("codemode: ") });
});
