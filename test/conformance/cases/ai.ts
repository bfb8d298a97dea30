// Which model answers, what it is sent, what that costs, and when a budget stops a run.

import { expect } from "vitest";
import { says, toolNames, wants } from "../../support/models/scripted.ts";
import { plugIn } from "../../support/devices.ts";
import { stages, watch } from "../stage.ts";
import { expectRefusal, refusal, verifies } from "../verifies.ts";

for (const name of ["ai.config", "ai.tools"] as const)
  verifies(`${name}:processes-only`, async ({ alice, root }) => {
    // Even root, who may call everything else: these are for processes only.
    for (const client of [await alice(), await root()]) await expectRefusal(client.call(name, {}), 403, `Permission denied: ${name}`);
  });

stages("ai.config:root", async ({ model, set, somebody, root }) => {
  const person = await somebody();
  const { uid } = person.session.identity.process;
  for (const name of ["provider", "base_url", "model", "api_key"])
    await root.call("sys.config.set", { key: `users/${uid}/ai/${name}`, value: "" });
  await set("config/net/allowed_hosts", "");
  // The model that root sets for everybody may be on any address, which opens no other address.
  for (const [name, value] of Object.entries(model.settings("chat"))) await set(`config/ai/${name}`, value);
  model.on("Who answers?", says("Root's model."));
  const home = await watch(person, `init:${uid}`);
  expect(await home.ask("Who answers?")).toMatchObject({ status: "ok", text: "Root's model." });
  expect(model.asked.at(-1)!.headers.authorization).toBe("Bearer sk-canary-000000000000");
  expect(await person.call("proc.context", {})).toMatchObject({ provider: "openai-compatible", model: model.name });
  // A user's own model comes first, and root's key is not sent to it.
  await root.call("sys.config.set", { key: `users/${uid}/ai/base_url`, value: `http://${model.provider.host}/v1/own` });
  await root.call("sys.config.set", { key: `users/${uid}/ai/model`, value: "own" });
  model.on("And now?", says("The user's model."));
  expect(await home.ask("And now?")).toMatchObject({ status: "ok", text: "The user's model." });
  const own = model.asked.at(-1)!;
  expect(own.body.model).toBe("own");
  expect(own.path).toBe("/v1/own/chat/completions");
  expect(own.headers.authorization ?? "").not.toContain("sk-canary");
  home.stop();
});

stages("ai.config:key-hidden", async ({ spawn, model, root, ann, set }) => {
  await set("config/ai/api_key", "sk-canary-of-root");
  await model.serve(root, 0);
  // Not even the owner's own key, and not even if the owner is root: a model receives what an agent reads.
  for (const person of [ann, root]) {
    const agent = await spawn({}, person);
    const look = "cat /sys/config/ai/api_key; cat /sys/users/*/ai/api_key; cat /etc/shadow; env; cat /proc/self/*";
    model.on("Find the key.", wants(["Shell", { target: "gsv", input: look }]), says("I saw no key."));
    const runId = await agent.say("Find the key.");
    await expect.poll(() => agent.of("proc.run.finished", runId).length + agent.of("proc.run.hil.requested").length).toBeGreaterThan(0);
    for (const { requestId } of agent.of("proc.run.hil.requested")) await agent.answer(String(requestId), "approve");
    await agent.finished(runId);
    const context = await person.call("proc.context", { pid: agent.pid, withText: true });
    const seen = JSON.stringify([agent.events, agent.pieces, await agent.history(), context, model.asked.map(({ body }) => body)]);
    expect(seen).not.toContain("sk-canary");
    expect(seen).not.toMatch(/root:[^x!*:]/);
  }
  expect((await ann.call("sys.config.get", { key: `users/${ann.session.identity.process.uid}/ai/api_key` })).entries).toHaveLength(1);
});

stages("ai.tools:devices", async ({ spawn, model, ann, world }) => {
  const agent = await spawn();
  const laptop = await plugIn(world.host, ann, "ann-tools");
  try {
    await ann.call("sys.device.update", { deviceId: "ann-tools", description: "the one in the kitchen" });
    model.on("Look.", says("Seen.")).on("Look again.", says("Not seen."));
    await agent.ask("Look.");
    const body = JSON.stringify(model.asked[0]!.body);
    expect(body).toContain("ann-tools");
    expect(body).toContain("the one in the kitchen");
    expect(toolNames(model.asked[0]!)).toContain("Shell");
    const { tools } = model.asked[0]!.body as { tools: { function: { name: string; parameters: { required: string[] } } }[] };
    const required = Object.fromEntries(tools.map(({ function: { name, parameters } }) => [name, parameters.required.includes("target")]));
    expect(required).toEqual({ Read: true, Write: true, Edit: true, Delete: true, Search: true, Shell: false, CodeMode: false });
  } finally {
    laptop.close();
  }
  await expect.poll(async () => (await ann.call("sys.device.get", { deviceId: "ann-tools" })).device?.online).toBe(false);
  await agent.ask("Look again.");
  expect(JSON.stringify(model.asked[1]!.body.tools)).not.toContain("ann-tools");
});

stages("ai.tools:capability", async ({ spawn, model, root, somebody }) => {
  const person = await somebody();
  const agent = await spawn({}, person);
  model.on("Run it.", wants(["Shell", { target: "gsv", input: "echo hello" }]), says("I may not."));
  // A process may not do what its user may not, and is not offered the tool.
  await root.call("sys.capability.revoke", { gid: 100, capability: "shell.exec" });
  try {
    expect(await agent.ask("Run it.")).toMatchObject({ status: "ok", text: "I may not." });
    expect(toolNames(model.asked[0]!)).not.toContain("Shell");
    expect(await agent.result()).toMatchObject({ isError: true, output: expect.stringContaining("Permission denied: shell.exec") });
  } finally {
    await root.call("sys.capability.grant", { gid: 100, capability: "shell.exec" });
  }
});

stages("proc.context:parts", async ({ spawn, model, ann }) => {
  await ann.call("fs.write", { path: "/home/ann/context.d/50-cats.md", content: "Ann has two cats." });
  const skill = "---\nname: brew-tea\ndescription: how to brew tea\n---\nBoil water.\n";
  await ann.call("fs.write", { path: "/home/ann/skills.d/brew-tea/SKILL.md", content: skill });
  const agent = await spawn({ assignment: { contextFiles: [{ name: "99-task.md", text: "Feed them." }] } });
  const { pid } = agent;
  const told = await ann.call("proc.context", { pid, withText: true });
  expect(told).toMatchObject({ ok: true, pid, provider: "openai-compatible", model: model.name, maxOutputTokens: 8192, context: null });
  const names = told.parts.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["home.context:50-cats.md", "available.skills", "process.context:99-task.md"]));
  expect(names.findIndex((name) => name.startsWith("system.context:"))).toBe(0);
  for (const words of ["Ann has two cats.", "brew-tea", "how to brew tea", "Feed them."]) expect(told.text).toContain(words);
  expect(told.text).not.toContain("Boil water.");
  expect(told.tools.toSorted()).toEqual(["CodeMode", "Delete", "Edit", "Read", "Search", "Shell", "Write"]);
  // The fixed part is small, and the request contains what is shown.
  const fixed = told.parts
    .filter(({ name }) => /^(system|profile)\./.test(name))
    .reduce((sum, { estimatedTokens }) => sum + estimatedTokens, 0);
  expect(fixed + told.toolTokens).toBeLessThan(3_000);
  model.on("Go.", says("Fed."));
  await agent.ask("Go.");
  const sent = JSON.stringify(model.asked[0]!.body);
  for (const words of ["Ann has two cats.", "brew-tea", "Feed them."]) expect(sent).toContain(words);
  expect((await ann.call("proc.context", { pid })).context).toMatchObject({
    conversationId: "default",
    source: "provider",
    messageCount: 2,
  });
  expect((await ann.call("proc.context", { pid })).text).toBeUndefined();
  await ann.call("fs.delete", { path: "/home/ann/context.d/50-cats.md" });
});

stages("proc.usage:counts", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("Read.", wants(["Read", { target: "gsv", path: "/etc/passwd" }]), says("Read.")).on("Again.", says("Again."));
  const first = await agent.say("Read.");
  await agent.finished(first);
  const second = await agent.say("Again.");
  await agent.finished(second);
  const used = await ann.call("proc.usage", { pid });
  expect(used).toMatchObject({ ok: true, pid, activeRun: null, spent: { modelCalls: 3, toolCalls: 1 } });
  expect(used.spent.usage).toMatchObject({ input: 180, cacheRead: 120, output: 60, totalTokens: 360 });
  expect((await ann.call("proc.usage", { pid, runId: second })).spent).toMatchObject({
    modelCalls: 1,
    toolCalls: 0,
    usage: { output: 20 },
  });
  const ids = (await agent.history()).messages.filter(({ role }) => role === "assistant").map(({ id }) => id);
  const { messages } = await ann.call("proc.usage", { pid, messageIds: ids });
  expect(messages).toMatchObject(
    ids.map((messageId) => ({
      messageId,
      usage: [{ provider: "openai-compatible", model: model.name, input: 60, output: 20, cacheRead: 40 }],
    })),
  );
});

stages("proc.usage:cost", async ({ spawn, model, set, ann }) => {
  const price = { input: 10, output: 100, cacheRead: 1 };
  await set("config/ai/catalogue", JSON.stringify({ [`openai-compatible/${model.name}`]: { contextWindow: 50_000, price } }));
  const agent = await spawn();
  model.on("How much?", says("Dear."));
  expect(await agent.ask("How much?")).toMatchObject({
    usage: { cost: { total: expect.closeTo((60 * 10 + 20 * 100 + 40 * 1) / 1e6, 9) } },
  });
  expect(await ann.call("proc.context", { pid: agent.pid })).toMatchObject({ contextWindowTokens: 50_000 });
});

stages("proc.spending:days", async ({ spawn, model, somebody, root }) => {
  const person = await somebody();
  const { uid } = person.session.identity.process;
  expect(await person.call("proc.spending", {})).toEqual({ uid, days: [] });
  const [one, two] = [await spawn({}, person), await spawn({}, person)];
  model.on("1", says("One.")).on("2", wants(["Read", { target: "gsv", path: "/etc/passwd" }]), says("Two."));
  await one.ask("1");
  await two.ask("2");
  const { days } = await person.call("proc.spending", {});
  expect(days).toMatchObject([
    { day: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/), spent: { modelCalls: 3, toolCalls: 1, usage: { output: 60 } } },
  ]);
  expect(await root.call("proc.spending", { uid })).toEqual({ uid, days });
  const refused = await Promise.all([0, 99_999].map((other) => refusal(person.call("proc.spending", { uid: other }))));
  expect(refused[0]).toMatchObject({ code: 403 });
  expect(refused[0]).toEqual(refused[1]);
});

stages("proc.hil:budget", async ({ spawn, model, somebody, root }) => {
  const person = await somebody();
  const { uid } = person.session.identity.process;
  await root.call("sys.config.set", { key: `users/${uid}/ai/budget/run/model_calls`, value: "2" });
  const agent = await spawn({}, person);
  const step = () => wants(["Read", { target: "gsv", path: "/etc/passwd" }]);
  model.on("Go in circles.", step(), step(), step(), says("Enough."));
  const runId = await agent.say("Go in circles.");
  const asked = await agent.asked();
  expect(asked).toMatchObject({ runId, toolName: "Budget", why: expect.stringContaining("2 model calls of 2") });
  expect(model.asked).toHaveLength(2);
  const { pending } = await person.call("proc.approval.list", { pid: agent.pid });
  expect(pending).toMatchObject([{ requestId: asked.requestId, kind: "budget" }]);
  expect((await agent.history()).pendingHil).toMatchObject({ requestId: asked.requestId });
  // Approve: the same amount again.
  await agent.answer(asked.requestId, "approve");
  expect(await agent.finished(runId)).toMatchObject({ status: "ok", text: "Enough." });
  expect(model.asked).toHaveLength(4);
  // Deny: the run ends and says why.
  model.on("Once more.", step(), step());
  const second = await agent.say("Once more.");
  await agent.answer((await agent.asked(2)).requestId, "deny");
  expect(await agent.finished(second)).toMatchObject({ status: "error", reason: "budget.denied" });
  expect((await agent.history()).messages.at(-1)).toMatchObject({
    role: "system",
    content: expect.stringContaining("The budget is used up"),
  });
  expect(model.asked).toHaveLength(6);
});

stages("proc.hil:budget-user", async ({ spawn, model, somebody, root }) => {
  const person = await somebody();
  const { uid } = person.session.identity.process;
  const set = (name: string, value: string) => root.call("sys.config.set", { key: `users/${uid}/ai/budget/${name}`, value });
  await set("user/tokens", "300");
  const [one, two] = [await spawn({}, person), await spawn({}, person)];
  model.on("1", says("A.")).on("2", says("B.")).on("3", says("C.")).on("4", says("D."));
  await one.ask("1");
  await two.ask("2");
  await one.ask("3");
  // 360 tokens of 300 are used: the next process needs approval, whichever it is.
  const runId = await two.say("4");
  const asked = await two.asked();
  expect(asked).toMatchObject({
    toolName: "Budget",
    why: expect.stringContaining("all processes of this user together have used 360 tokens of 300"),
  });
  await two.answer(asked.requestId, "approve");
  expect(await two.finished(runId)).toMatchObject({ status: "ok", text: "D." });
});
