// What people set for a process, a conversation or a message: which model answers, how, and what it is told in addition.

import { expect } from "vitest";
import { plugIn } from "../../support/devices.ts";
import { says, wants } from "../../support/models/scripted.ts";
import { stages } from "../stage.ts";
import { expectRefusal } from "../verifies.ts";

const NOTHING = { model: null, thinking: null, prompt: null, maxTokens: null, posture: null, postureEndsAt: null };
const PROVIDER = "openai-compatible";
const other = { provider: PROVIDER, model: "other" };

stages("proc.settings.get:levels", async ({ spawn, ann, model, world }) => {
  const agent = await spawn();
  const { pid } = agent;
  const conversationId = "aside";
  await ann.call("proc.conversation.open", { pid, conversationId });
  const first = await ann.call("proc.settings.get", { pid });
  expect(first).toMatchObject({ ok: true, pid, conversationId: null, settings: NOTHING });
  expect(first.effective).toMatchObject({ provider: PROVIDER, model: model.name, thinking: "off", hasPrompt: false, modelFrom: "user" });
  const set = await ann.call("proc.settings.set", { pid, model: other, thinking: "low", prompt: "Answer in French." });
  expect(set.settings).toEqual({ ...NOTHING, model: other, thinking: "low", prompt: "Answer in French." });
  expect(set.effective).toMatchObject({ model: "other", thinking: "low", hasPrompt: true, modelFrom: "process" });
  await expect.poll(() => agent.of("proc.changed").at(-1)).toMatchObject({ changes: ["settings"] });
  // The conversation adds its own; what it does not set is the process's.
  const own = { provider: PROVIDER, model: "third" };
  await ann.call("proc.settings.set", { pid, conversationId, model: own, maxTokens: 77 });
  const inside = await ann.call("proc.settings.get", { pid, conversationId });
  expect(inside.settings).toEqual({ ...NOTHING, model: own, maxTokens: 77 });
  expect(inside.effective).toMatchObject({ model: "third", thinking: "low", maxTokens: 77, hasPrompt: true, modelFrom: "conversation" });
  await expect.poll(() => agent.of("proc.changed").at(-1)).toMatchObject({ changes: ["settings"], conversationId });
  model.on("Hello?", says("Bonjour.")).on("Aside?", says("Oui."));
  await agent.ask("Hello?");
  expect(model.asked.at(-1)!.body).toMatchObject({ model: "other" });
  expect(JSON.stringify(model.asked.at(-1)!.body)).toContain("Answer in French.");
  await agent.ask("Aside?", { conversationId });
  expect(model.asked.at(-1)!.body).toMatchObject({ model: "third" });
  const { parts } = await ann.call("proc.context", { pid, conversationId });
  expect(parts.map(({ name }) => name)).toContain("settings.prompt");
  // Null clears; what is missing stays.
  const cleared = await ann.call("proc.settings.set", { pid, model: null, prompt: "" });
  expect(cleared.settings).toEqual({ ...NOTHING, thinking: "low" });
  const bob = await world.bob();
  await expectRefusal(bob.call("proc.settings.get", { pid }), 404, /^Process not found/);
});

stages("proc.settings.set:model", async ({ somebody, root, model }) => {
  const person = await somebody();
  const { uid } = person.session.identity.process;
  await expectRefusal(
    person.call("proc.settings.set", { model: { provider: "anthropic", model: "claude" } }),
    400,
    /^anthropic\/claude is not available: choose a model of openai-compatible/,
  );
  await expectRefusal(
    person.call("proc.send", { message: "x", settings: { model: { provider: "anthropic", model: "claude" } } }),
    400,
    /is not available/,
  );
  await expectRefusal(person.call("proc.settings.set", { prompt: "x".repeat(16 * 1024 + 1) }), 400, /at most 16384 bytes/);
  await person.call("proc.settings.set", { model: other });
  expect(await person.call("proc.context", {})).toMatchObject({ model: "other" });
  // The provider is gone: the user's own model answers.
  await root.call("sys.config.set", { key: `users/${uid}/ai/provider`, value: "demo" });
  expect((await person.call("proc.settings.get", {})).effective).toMatchObject({ provider: "demo", modelFrom: "user" });
  expect(model.asked).toEqual([]);
});

stages("proc.settings.set:people", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  const script = `codemode -e 'return await proc.settings.set({ pid: "${pid}", thinking: "high" })'`;
  const calls = ["proc.settings.set", `gsv call proc.settings.set '{"pid":"${pid}","thinking":"high"}'`, script];
  model.on("Try.", wants(...calls.map((input): [string, object] => ["Shell", { target: "gsv", input }])), says("Refused."));
  const runId = await agent.say("Try.");
  for (let count = 1; agent.of("proc.run.finished", runId).length === 0;) {
    await expect
      .poll(() => agent.of("proc.run.hil.requested").length >= count || agent.of("proc.run.finished", runId).length > 0)
      .toBe(true);
    const question = agent.of("proc.run.hil.requested")[count - 1];
    // A person who approves all of them lets nobody through.
    if (question !== undefined && ++count > 0) await agent.answer(String(question.requestId), "approve");
  }
  expect((await ann.call("proc.settings.get", { pid })).settings).toEqual(NOTHING);
});

stages("proc.settings.set:ends", async ({ spawn, ann }) => {
  const { pid } = await spawn();
  await expectRefusal(ann.call("proc.settings.set", { pid, conversationId: "none", thinking: "low" }), 404, "Unknown conversation: none");
  await ann.call("proc.settings.set", { pid, thinking: "low" });
  await ann.call("proc.settings.set", { pid, conversationId: "default", thinking: "high" });
  await ann.call("proc.reset", { pid });
  expect((await ann.call("proc.settings.get", { pid })).settings.thinking).toBe("low");
  await ann.call("proc.kill", { pid });
  expect((await ann.call("proc.settings.get", { pid, conversationId: "default" })).effective.thinking).toBe("off");
});

stages("proc.send:settings", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("Plain.", wants(["Shell", { target: "gsv", input: "sleep 1" }]), says("One."));
  model.on("Special.", says("Two.")).on("After.", says("Three."));
  const plain = await agent.say("Plain.");
  const settings = { model: other, prompt: "Be brief.", maxTokens: 99 };
  const { runId: special } = await ann.call("proc.send", { pid, message: "Special.", settings });
  const after = await agent.say("After.");
  // A repeat is the same message, with the settings of the first.
  await ann.call("proc.send", { pid, message: "Special.", runId: special });
  for (const runId of [plain, special, after]) expect(await agent.finished(runId)).toMatchObject({ status: "ok" });
  const models = model.asked.map(({ body }) => body.model);
  expect(models.filter((name) => name === "other")).toHaveLength(1);
  const asked = model.asked[models.indexOf("other")]!;
  expect(JSON.stringify(asked.body)).toContain("Be brief.");
  expect(models.at(-1)).toBe(model.name);
  expect((await ann.call("proc.settings.get", { pid })).settings).toEqual(NOTHING);
});

stages("proc.settings.set:ask", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  const write = (name: string): [string, object] => ["Write", { target: "gsv", path: `~/${name}`, content: "x" }];
  model.on("Write.", wants(["Read", { target: "gsv", path: "~" }], write("posture.md")), says("Done."));
  model.on("Send.", wants(["Shell", { target: "gsv", input: `proc send ${pid} --conversation aside 'Write more.'` }]), says("Sent."));
  model.on(/Write more/, wants(write("more.md")), says("Denied."));
  await ann.call("proc.settings.set", { pid, conversationId: "default", posture: "ask" });
  const first = await agent.say("Write.");
  // Reading needs no approval.
  const question = await agent.asked();
  expect(question).toMatchObject({ syscall: "fs.write", why: "You chose to be asked before every action" });
  await agent.answer(question.requestId, "approve");
  expect(await agent.finished(first)).toMatchObject({ status: "ok" });
  const second = await agent.say("Send.");
  const sending = await agent.asked(2);
  expect(sending).toMatchObject({ syscall: "shell.exec" });
  await agent.answer(sending.requestId, "approve");
  await agent.finished(second);
  // The other conversation is not asking by itself.
  const inside = await agent.asked(3);
  expect(inside).toMatchObject({ syscall: "fs.write", conversationId: "aside" });
  await agent.answer(inside.requestId, "deny");
  await agent.finished(inside.runId);
  expect((await ann.call("proc.settings.get", { pid, conversationId: "aside" })).effective).toMatchObject({ posture: "careful" });
});

stages("proc.settings.set:trusted", async ({ spawn, ann, uid, model, world, set }) => {
  const laptop = await plugIn(world.host, ann, "trusted-laptop");
  try {
    const agent = await spawn();
    const { pid } = agent;
    const run = (input: string) => wants(["Shell", { target: "trusted-laptop", input }]);
    model.on("Look.", run("uptime"), says("Fine.")).on("Remove.", run("rm -r build"), says("No."));
    model.on("Look again.", run("uptime"), says("Denied."));
    const { settings, effective } = await ann.call("proc.settings.set", { pid, posture: "trusted" });
    expect(settings.postureEndsAt! - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect(settings.postureEndsAt! - Date.now()).toBeLessThanOrEqual(24 * 3_600_000 + 60_000);
    expect(effective).toMatchObject({ posture: "trusted", postureFrom: "process", postureEndsAt: settings.postureEndsAt });
    expect(await agent.ask("Look.")).toMatchObject({ status: "ok", text: "Fine." });
    expect(agent.of("proc.run.hil.requested")).toEqual([]);
    const runId = await agent.say("Remove.");
    await agent.answer((await agent.asked()).requestId, "deny");
    await agent.finished(runId);
    // What a person wrote stays.
    const policy = JSON.stringify({ default: "auto", rules: [{ match: "shell.exec", action: "ask" }] });
    await set(`users/${uid}/ai/profile/task/tools/approval`, policy);
    const last = await agent.say("Look again.");
    await agent.answer((await agent.asked(2)).requestId, "deny");
    await agent.finished(last);
  } finally {
    laptop.close();
  }
});

stages("proc.settings.set:owner", async ({ spawn, ann, root, world }) => {
  const { pid } = await spawn();
  const bob = await world.bob();
  await expectRefusal(bob.call("proc.settings.set", { pid, posture: "trusted" }), 404, /^Process not found/);
  await expectRefusal(root.call("proc.settings.set", { pid, posture: "trusted" }), 403, /^Only the owner/);
  expect((await root.call("proc.settings.get", { pid })).effective).toMatchObject({ posture: "careful" });
  const unattended = await ann.call("proc.spawn", { profile: "cron" });
  await expectRefusal(ann.call("proc.settings.set", { pid: unattended.pid, posture: "ask" }), 400, /works unattended/);
});

stages("proc.settings.set:denied", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("Write.", wants(["Write", { target: "gsv", path: "~/denied.md", content: "x" }]), says("Denied."));
  await ann.call("proc.settings.set", { pid, posture: "ask" });
  const runId = await agent.say("Write.");
  const question = await agent.asked();
  await ann.call("proc.settings.set", { pid, posture: null });
  await agent.answer(question.requestId, "deny");
  await agent.finished(runId);
  expect(await agent.result()).toMatchObject({ isError: true, output: expect.stringContaining("denied by user") });
});

stages("ai.models:lists", async ({ somebody, root, model }) => {
  const person = await somebody();
  const { uid } = person.session.identity.process;
  model.provider.pages.set("/v1/models", { data: [{ id: "a-model" }, { id: "text-embedding" }] });
  const chosen = { provider: PROVIDER, title: "The model server", model: model.name, isDefault: true };
  const listed = await person.call("ai.models", {});
  expect(listed).toEqual({ models: [chosen, { ...chosen, model: "a-model", isDefault: false }], problem: null });
  // A list is kept, and a change of the settings makes a new one.
  await person.call("ai.models", {});
  const requests = () => model.provider.asked.filter(({ method }) => method === "GET").length;
  expect(requests()).toBe(1);
  await root.call("sys.config.set", { key: `users/${uid}/ai/fallback/provider`, value: "demo" });
  expect((await person.call("ai.models", {})).models).toContainEqual({
    provider: "demo",
    title: "The demo model",
    model: "demo",
    isDefault: false,
  });
  expect(requests()).toBe(2);
  await person.call("proc.settings.set", { model: { provider: "demo", model: "demo" } });
  expect((await person.call("proc.settings.get", {})).effective).toMatchObject({ provider: "demo", modelFrom: "process" });
});

stages("ai.models:problem", async ({ somebody, root, model }) => {
  const person = await somebody();
  const { uid } = person.session.identity.process;
  const broken = await person.call("ai.models", {});
  expect(broken.models).toEqual([{ provider: PROVIDER, title: "The model server", model: model.name, isDefault: true }]);
  expect(broken.problem).toMatch(/does not list its models/);
  await root.call("sys.config.set", { key: `users/${uid}/ai/base_url`, value: "http://127.0.0.1:9/v1" });
  const gone = await person.call("ai.models", {});
  expect(gone.models).toHaveLength(1);
  expect(gone.problem).toMatch(/\.$/);
  expect(JSON.stringify([broken, gone])).not.toContain("sk-canary");
});
