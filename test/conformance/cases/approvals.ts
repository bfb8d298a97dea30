// What agents may do without approval, what needs approval, and what approvals and denials cover.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { plugIn } from "../../support/devices.ts";
import { says, toldText, wants } from "../../support/models/scripted.ts";
import { stages, type Watched } from "../stage.ts";
import { expectRefusal, refusal } from "../verifies.ts";

const file = (client: Client, name: string) => `${client.session.identity.process.home}/${name}`;

stages("proc.hil:approves", async ({ spawn, model, ann, uid }) => {
  const agent = await spawn();
  const { pid } = agent;
  const path = file(ann, "old.txt");
  await ann.call("fs.write", { path, content: "x" });
  model.on("Delete it.", wants(["Delete", { target: "gsv", path }]), says("Gone."));
  const runId = await agent.say("Delete it.");
  const asked = await agent.asked();
  expect(asked).toMatchObject({
    pid,
    runId,
    conversationId: "default",
    toolName: "Delete",
    syscall: "fs.delete",
    args: { path },
    target: "gsv",
    requestId: expect.any(String),
    callId: expect.any(String),
    createdAt: expect.any(Number),
  });
  expect((await agent.history()).pendingHil).toMatchObject({ requestId: asked.requestId });
  await expect.poll(async () => (await ann.call("proc.list", {})).processes.find((one) => one.pid === pid)?.state).toBe("waiting_hil");
  const { pending } = await ann.call("proc.approval.list", { pid });
  expect(pending).toMatchObject([{ requestId: asked.requestId, uid, kind: "call", tags: expect.arrayContaining(["deletes"]) }]);
  expect(pending[0]!.shown.text).toContain(path);
  expect((await ann.call("fs.read", { path })).ok).toBe(true);
  expect(await agent.answer(asked.requestId, "approve")).toEqual({
    ok: true,
    pid,
    requestId: asked.requestId,
    decision: "approve",
    resumed: true,
    pendingHil: null,
  });
  expect(await agent.finished(runId)).toMatchObject({ status: "ok", text: "Gone." });
  expect((await ann.call("fs.read", { path })).ok).toBe(false);
  await expectRefusal(agent.answer(asked.requestId, "approve"), 409, /already answered/);
  expect((await agent.history()).pendingHil).toBeNull();
});

stages("proc.hil:denies", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const path = file(ann, "kept.txt");
  await ann.call("fs.write", { path, content: "x" });
  model.on("Delete it.", wants(["Delete", { target: "gsv", path }]), wants(["Delete", { target: "gsv", path }]), says("It stays."));
  const runId = await agent.say("Delete it.");
  await agent.answer((await agent.asked()).requestId, "deny", { reason: "I need it" });
  await agent.answer((await agent.asked(2)).requestId, "deny");
  expect(await agent.finished(runId)).toMatchObject({ status: "ok", text: "It stays." });
  const results = (await agent.history()).messages.filter(({ role }) => role === "toolResult").map(({ content }) => content);
  expect(results).toMatchObject([
    { isError: true, output: "Error: Tool execution denied by user: I need it" },
    { isError: true, output: "Error: Tool execution denied by user" },
  ]);
  expect((await ann.call("fs.read", { path })).ok).toBe(true);
});

stages("proc.hil:once", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const [one, two] = [file(ann, "one.txt"), file(ann, "two.txt")];
  for (const path of [one, two]) await ann.call("fs.write", { path, content: "x" });
  const remove = (path: string) => wants(["Delete", { target: "gsv", path }]);
  model.on("Tidy up.", remove(one), remove(two), remove(one), says("Done."));
  const runId = await agent.say("Tidy up.");
  // An approval covers neither another call nor the same call again.
  const ids = new Set<string>();
  for (const count of [1, 2, 3]) {
    const { requestId } = await agent.asked(count);
    ids.add(requestId);
    await agent.answer(requestId, "approve");
  }
  expect(ids.size).toBe(3);
  await agent.finished(runId);
});

const DAY_MS = 24 * 3_600_000;

stages("proc.hil:remembers", async ({ spawn, model, ann }) => {
  const [agent, other] = [await spawn(), await spawn()];
  const { pid } = agent;
  const [first, second, hidden] = [file(ann, "first.txt"), file(ann, "second.txt"), file(ann, ".hidden")];
  for (const path of [first, second, hidden]) await ann.call("fs.write", { path, content: "x" });
  const remove = (path: string) => wants(["Delete", { target: "gsv", path }]);
  model.on("Tidy up.", remove(first), remove(second), remove(hidden), says("Tidied."));
  const runId = await agent.say("Tidy up.");
  const asked = await agent.asked();
  const answered = await agent.answer(asked.requestId, "approve", { remember: true });
  expect(answered).toMatchObject({ remembered: true, grant: { pid, call: "fs.delete", target: "gsv", scope: "class", folder: null } });
  expect(answered.grant!.expiresAt - answered.grant!.madeAt).toBe(DAY_MS);
  // The second ran without a question; the third has one tag more.
  const more = await agent.asked(2);
  expect(more.args).toMatchObject({ path: hidden });
  expect((await ann.call("fs.read", { path: second })).ok).toBe(false);
  await agent.answer(more.requestId, "deny");
  await agent.finished(runId);
  const { grants } = await ann.call("proc.approval.list", { pid });
  expect(grants).toMatchObject([
    { ...answered.grant, says: expect.stringMatching(/without asking.*it deletes/s), shown: { isWhole: true } },
  ]);
  expect(grants[0]!.shown.text).toContain(first);
  // The grant covers neither another process nor another syscall.
  model.on("Delete it.", remove(second), says("No."));
  const elsewhere = await other.say("Delete it.");
  await other.answer((await other.asked()).requestId, "deny");
  await other.finished(elsewhere);
  const run = (input: string) => wants(["Shell", { target: "gsv", input }]);
  const asks = ["rm $(cat list)", "rm third.txt; curl http://127.0.0.1:9/", "rm context.d/me.md"];
  model.on("With commands.", run("rm -f third.txt"), run("rm -f fourth.txt"), ...asks.map(run), says("With commands."));
  const commands = await agent.say("With commands.");
  await agent.answer((await agent.asked(3)).requestId, "approve", { remember: true });
  for (const [at, input] of asks.entries()) {
    const question = await agent.asked(4 + at);
    expect(question).toMatchObject({ syscall: "shell.exec", args: { input } });
    await agent.answer(question.requestId, "deny");
  }
  await agent.finished(commands);
  // A call that steers agents is remembered for exactly that call, whatever scope was requested.
  const steer = (content: string) => wants(["Write", { target: "gsv", path: file(ann, "context.d/me.md"), content }]);
  model.on("Change your instructions.", steer("a"), steer("a"), steer("b"), says("Changed."));
  const steering = await agent.say("Change your instructions.");
  expect(await agent.answer((await agent.asked(7)).requestId, "approve", { remember: true })).toMatchObject({
    remembered: true,
    grant: { call: "fs.write", scope: "exact" },
  });
  const changed = await agent.asked(8);
  expect(changed.args).toMatchObject({ content: "b" });
  await agent.answer(changed.requestId, "deny");
  await agent.finished(steering);
});

stages("proc.hil:remembers-target", async ({ spawn, model, ann, world }) => {
  const [one, two] = [await plugIn(world.host, ann, "ann-one"), await plugIn(world.host, ann, "ann-two")];
  try {
    const agent = await spawn();
    const write = (target: string, path: string) => wants(["Write", { target, path, content: "x" }]);
    model.on("Write them.", write("ann-one", "a.txt"), write("ann-one", "b.txt"), write("ann-two", "a.txt"), says("Written."));
    const runId = await agent.say("Write them.");
    const { grant } = await agent.answer((await agent.asked()).requestId, "approve", { remember: true });
    expect(grant).toMatchObject({ target: "ann-one", scope: "class", call: "fs.write" });
    const second = await agent.asked(2);
    expect(second).toMatchObject({ target: "ann-two", args: { path: "a.txt" } });
    expect(readFileSync(join(one.workspace, "b.txt"), "utf8")).toBe("x");
    await agent.answer(second.requestId, "deny");
    await agent.finished(runId);
    // Another machine may get the same name.
    await ann.call("sys.device.remove", { deviceId: "ann-one" });
    expect((await ann.call("proc.approval.list", { pid: agent.pid })).grants).toEqual([]);
  } finally {
    for (const device of [one, two]) device.close();
  }
});

stages("proc.hil:exact", async ({ spawn, model, ann }) => {
  const [agent, other] = [await spawn(), await spawn()];
  const { pid } = agent;
  const path = file(ann, "often.txt");
  const remove = () => wants(["Delete", { target: "gsv", path }]);
  model.on("Delete it whenever it is there.", remove(), remove(), says("Twice."));
  const runId = await agent.say("Delete it whenever it is there.");
  const { requestId } = await agent.asked();
  const answered = await agent.answer(requestId, "approve", { remember: true, scope: "exact" });
  expect(answered).toMatchObject({ remembered: true, grant: { pid, call: "fs.delete", target: "gsv", scope: "exact", requestId } });
  await agent.finished(runId);
  expect(agent.of("proc.run.hil.requested")).toHaveLength(1);
  const { grants } = await ann.call("proc.approval.list", { pid });
  expect(grants).toMatchObject([{ scope: "exact", says: expect.stringContaining("exactly as shown"), shown: { isWhole: true } }]);
  // Only this process, and only exactly this call.
  model.on("Delete it.", remove());
  await other.say("Delete it.");
  await agent.client.call("proc.abort", { pid: (await other.asked(), other.pid) });
  model.on("And the other.", wants(["Delete", { target: "gsv", path: file(ann, "other.txt") }]), says("No."));
  const second = await agent.say("And the other.");
  await agent.answer((await agent.asked(2)).requestId, "deny");
  await agent.finished(second);
});

stages("proc.approval.revoke:asks-again", async ({ spawn, model, ann, world }) => {
  const agent = await spawn();
  const path = file(ann, "revoked.txt");
  const remove = () => wants(["Delete", { target: "gsv", path }]);
  model.on("Delete it.", remove(), says("Once.")).on("And again.", remove(), says("Not again."));
  const first = await agent.say("Delete it.");
  const { grant } = await agent.answer((await agent.asked()).requestId, "approve", { remember: true });
  await agent.finished(first);
  const { grantId } = grant!;
  // A foreign grant answers like an absent one.
  const bob = await world.bob();
  expect(await bob.call("proc.approval.revoke", { grantId })).toEqual(await bob.call("proc.approval.revoke", { grantId: "none" }));
  expect(await ann.call("proc.approval.revoke", { grantId })).toEqual({ revoked: true });
  expect(await ann.call("proc.approval.revoke", { grantId })).toEqual({ revoked: false });
  expect((await ann.call("proc.approval.list", { pid: agent.pid })).grants).toEqual([]);
  const second = await agent.say("And again.");
  await agent.answer((await agent.asked(2)).requestId, "deny");
  await agent.finished(second);
});

stages("proc.hil:scopes", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const inFolder = (name: string) => wants(["Delete", { target: "gsv", path: file(ann, `heap/${name}`) }]);
  model.on("Clear the heap.", inFolder("a"), inFolder("b"), inFolder("../c"), says("Heap cleared."));
  const runId = await agent.say("Clear the heap.");
  const { requestId } = await agent.asked();
  await expectRefusal(agent.answer(requestId, "approve", { scope: "tool", ttlMs: 30 * 24 * 3_600_000 }), 400, /at most/);
  const { grant } = await agent.answer(requestId, "approve", { scope: "folder", ttlMs: 3_600_000 });
  expect(grant).toMatchObject({ scope: "folder", folder: file(ann, "heap") });
  expect(grant!.expiresAt - grant!.madeAt).toBe(3_600_000);
  // Below the folder nothing needs approval, beside it does.
  const beside = await agent.asked(2);
  expect(beside.args).toMatchObject({ path: file(ann, "heap/../c") });
  await agent.answer(beside.requestId, "deny");
  await agent.finished(runId);
  // A call that steers agents needs approval each time.
  const steer = wants(["Write", { target: "gsv", path: file(ann, "context.d/me.md"), content: "x" }]);
  model.on("Change your instructions.", steer, says("No."));
  const steering = await agent.say("Change your instructions.");
  const third = await agent.asked(3);
  await expectRefusal(agent.answer(third.requestId, "approve", { scope: "tool" }), 400, /need approval each time/);
  await agent.answer(third.requestId, "deny");
  await agent.finished(steering);
});

stages("proc.hil:whose", async ({ spawn, model, ann, root, world }) => {
  const agent = await spawn();
  model.on("Delete it.", wants(["Delete", { target: "gsv", path: file(ann, "a") }]), says("Denied."));
  const runId = await agent.say("Delete it.");
  const { requestId } = await agent.asked();
  const bob = await world.bob();
  const foreign = await refusal(bob.call("proc.hil", { requestId, decision: "approve" }));
  const absent = await refusal(bob.call("proc.hil", { requestId: "none", decision: "approve" }));
  expect({ ...foreign, message: foreign.message.replace(requestId, "none") }).toEqual(absent);
  expect(absent).toMatchObject({ code: 404, message: "Pending tool confirmation not found: none" });
  expect(await bob.call("proc.approval.list", {})).toEqual({ pending: [], grants: [] });
  await expectRefusal(ann.call("proc.hil", { pid: `init:${ann.session.identity.process.uid}`, requestId, decision: "approve" }), 404);
  await expectRefusal(ann.call("proc.hil", { requestId, decision: "maybe" as "deny" }), 400, /approve or deny/);
  // Root may answer for anybody, an agent for nobody.
  expect(await root.call("proc.hil", { requestId, decision: "deny" })).toMatchObject({ decision: "deny" });
  await agent.finished(runId);
  expect(await ann.call("proc.approval.preview", { call: "proc.hil", args: { requestId, decision: "approve" } })).toMatchObject({
    action: "deny",
  });
});

stages("proc.hil:abort", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  model.on("Delete it.", wants(["Delete", { target: "gsv", path: file(ann, "a") }]));
  const runId = await agent.say("Delete it.");
  const { requestId } = await agent.asked();
  expect(await ann.call("proc.abort", { pid: agent.pid })).toMatchObject({ aborted: true, interruptedToolCalls: 1 });
  await agent.finished(runId);
  await expect.poll(async () => (await agent.history()).pendingHil).toBeNull();
  await expectRefusal(agent.answer(requestId, "approve"), 409);
});

stages("proc.approval.list:bounded", async ({ spawn, model, ann, world }) => {
  const agent = await spawn();
  const laptop = await plugIn(world.host, ann, "ann-bounded");
  try {
    const write = (name: string): [string, object] => ["Write", { target: "ann-bounded", path: name, content: "x" }];
    const names = Array.from({ length: 14 }, (_, at) => `file-${at % 12}`);
    model.on("Write them all.", wants(...names.map(write)), says("Many."));
    const runId = await agent.say("Write them all.");
    let most = 0;
    // One after another, the oldest first, never more than ten at once.
    while (agent.of("proc.run.finished", runId).length === 0) {
      const { pending } = await ann.call("proc.approval.list", { pid: agent.pid });
      most = Math.max(most, pending.length);
      const { pendingHil } = await agent.history({ limit: 1 });
      expect(pending.toSorted((a, b) => a.createdAt - b.createdAt)).toEqual(pending);
      // A digest has one question, however often the model makes the call.
      expect(new Set(pending.map(({ digest }) => digest)).size).toBe(pending.length);
      if (pendingHil !== null) await agent.answer(pendingHil.requestId, "deny").catch(() => {});
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(10);
    const results = (await agent.history()).messages.filter(({ role }) => role === "toolResult");
    expect(results).toHaveLength(14);
    expect(results.every(({ content }) => (content as { isError: boolean }).isError)).toBe(true);
  } finally {
    laptop.close();
  }
});

stages("proc.approval.history:over", async ({ spawn, model, somebody }) => {
  const person = await somebody();
  const agent = await spawn({}, person);
  const remove = (name: string) => wants(["Delete", { target: "gsv", path: file(person, name) }]);
  model.on("Delete both.", remove("a"), remove("b"), says("So be it."));
  const runId = await agent.say("Delete both.");
  await agent.answer((await agent.asked()).requestId, "approve");
  await agent.answer((await agent.asked(2)).requestId, "deny", { reason: "no" });
  await agent.finished(runId);
  const { uid } = person.session.identity.process;
  const { questions } = await person.call("proc.approval.history", {});
  expect(questions).toMatchObject([
    { pid: agent.pid, syscall: "fs.delete", state: "denied", decidedBy: uid, reason: "no" },
    { pid: agent.pid, syscall: "fs.delete", state: "used", decidedBy: uid, reason: null },
  ]);
  expect((await person.call("proc.approval.history", { limit: 1 })).questions).toEqual(questions.slice(0, 1));
  expect((await person.call("proc.approval.list", {})).pending).toEqual([]);
});

stages("proc.approval.preview:defaults", async ({ ann }) => {
  const rows: [call: string, args: Record<string, unknown>, gsv: string, device: string][] = [
    ["fs.read", { path: "a" }, "auto", "auto"],
    ["fs.search", { query: "a" }, "auto", "auto"],
    ["fs.read", { path: "~/.ssh/config" }, "ask", "ask"],
    ["fs.search", { query: "a", path: "~/.aws" }, "ask", "ask"],
    ["shell.exec", { input: "cat .env" }, "ask", "ask"],
    ["shell.exec", { input: "> a" }, "ask", "ask"],
    ["shell.exec", { input: "[".repeat(30_000) }, "ask", "ask"],
    ["fs.write", { path: "a", content: "x" }, "auto", "ask"],
    ["fs.edit", { path: "a", oldString: "a", newString: "b" }, "auto", "ask"],
    ["fs.write", { path: "~/context.d/a.md", content: "x" }, "ask", "ask"],
    ["fs.write", { path: "~/skills.d/a/SKILL.md", content: "x" }, "ask", "ask"],
    ["fs.write", { path: "/sys/config/ai/model", content: "x" }, "ask", "ask"],
    ["fs.delete", { path: "a" }, "ask", "ask"],
    ["shell.exec", { input: "ls -l | wc -l" }, "auto", "ask"],
    ["shell.exec", { input: "rm a" }, "ask", "ask"],
    ["shell.exec", { input: "curl https://example.org" }, "ask", "ask"],
  ];
  for (const [call, args, gsv, device] of rows) {
    const label = `${call} ${JSON.stringify(args)}`;
    expect(await ann.call("proc.approval.preview", { call, args }), label).toMatchObject({ action: gsv, target: "gsv" });
    const there = { call, args: { ...args, target: "laptop" } };
    expect(await ann.call("proc.approval.preview", there), label).toMatchObject({ action: device, target: "device" });
  }
  for (const call of ["sys.config.set", "sys.token.create", "proc.conversation.policy.set", "proc.kill"])
    expect(await ann.call("proc.approval.preview", { call, args: {} }), call).toMatchObject({ action: "ask" });
  for (const call of ["proc.hil", "proc.approval.revoke", "proc.setidentity"])
    expect(await ann.call("proc.approval.preview", { call, args: {} }), call).toMatchObject({ action: "deny" });
  // Nobody can be asked.
  expect(await ann.call("proc.approval.preview", { profile: "cron", call: "fs.delete", args: { path: "a" } })).toMatchObject({
    action: "deny",
  });
  await expectRefusal(ann.call("proc.approval.preview", { call: "no.such", args: {} }), 404);
});

stages("proc.approval.preview:policy", async ({ ann }) => {
  const policy = JSON.stringify({
    default: "deny",
    rules: [
      { match: "fs.*", action: "auto" },
      { match: "fs.write", action: "ask", when: { target: "device" } },
      { match: "shell.exec", action: "auto", when: { argPrefix: { input: "ls" } } },
    ],
  });
  const preview = async (call: string, args: Record<string, unknown>, text = policy) =>
    (await ann.call("proc.approval.preview", { policy: text, call, args })).action;
  expect(await preview("fs.read", { path: "a" })).toBe("auto");
  // Exact rules come before families.
  expect(await preview("fs.write", { path: "a", content: "", target: "laptop" })).toBe("ask");
  expect(await preview("fs.write", { path: "a", content: "" })).toBe("auto");
  expect(await preview("shell.exec", { input: "ls -l" })).toBe("auto");
  expect(await preview("shell.exec", { input: "ls; rm -r ~" })).toBe("deny");
  expect(await preview("repo.list", {})).toBe("deny");
  for (const broken of ["{", "[]", '{"default":"maybe","rules":[]}', '{"default":"auto","rules":[{"match":"*","action":"auto"}]}'])
    expect(await ann.call("proc.approval.preview", { policy: broken, call: "fs.read", args: { path: "a" } }), broken).toMatchObject({
      action: "deny",
      problem: expect.any(String),
    });
});

stages("proc.spawn:policy", async ({ spawn, model, ann, uid, set }) => {
  const path = file(ann, "policy.txt");
  await ann.call("fs.write", { path, content: "x" });
  const read = () => wants(["Read", { target: "gsv", path }]);
  const denied = /^Error: Tool execution denied by policy/;
  const review = async (): Promise<Watched> => {
    const agent = await spawn({ profile: "review" });
    model.on("Read.", read(), says("Read."));
    expect(await agent.ask("Read.")).toMatchObject({ status: "ok" });
    return agent;
  };
  // An unreadable policy: nothing runs.
  await set("config/ai/profile/review/tools/approval", "{ not a policy");
  expect(await (await review()).result()).toMatchObject({ isError: true, output: expect.stringMatching(denied) });
  // Root's and the user's policy: the stricter counts.
  await set("config/ai/profile/review/tools/approval", '{"default":"auto","rules":[]}');
  expect(await (await review()).result()).toMatchObject({ isError: false });
  await set(`users/${uid}/ai/profile/review/tools/approval`, '{"default":"auto","rules":[{"match":"fs.read","action":"deny"}]}');
  const agent = await review();
  expect(await agent.result()).toMatchObject({ isError: true, output: expect.stringMatching(denied) });
  // A process gains nothing by starting a child.
  const child = await spawn({ parentPid: agent.pid });
  model.on("Read.", read(), says("Read."));
  await child.ask("Read.");
  expect(await child.result()).toMatchObject({ isError: true, output: expect.stringMatching(denied) });
});

stages("proc.spawn:unattended", async ({ spawn, model, ann }) => {
  const agent = await spawn({ profile: "cron" });
  const path = file(ann, "nightly.txt");
  await ann.call("fs.write", { path, content: "x" });
  model.on("Clean up.", wants(["Read", { target: "gsv", path }], ["Delete", { target: "gsv", path }]), says("Not deleted."));
  expect(await agent.ask("Clean up.")).toMatchObject({ status: "ok", text: "Not deleted." });
  expect(agent.of("proc.run.hil.requested")).toEqual([]);
  const results = (await agent.history()).messages.filter(({ role }) => role === "toolResult").map(({ content }) => content);
  expect(results).toMatchObject([{ isError: false }, { isError: true, output: expect.stringContaining("denied by policy") }]);
});

stages("fs.write:agent-device", async ({ spawn, model, ann, world }) => {
  const laptop = await plugIn(world.host, ann, "ann-laptop", 30_000);
  try {
    const agent = await spawn();
    const at = { target: "ann-laptop" };
    model.on(
      "Leave a note on my laptop.",
      wants(["Write", { ...at, path: "note.txt", content: "from afar" }]),
      wants(["Read", { ...at, path: "note.txt" }]),
      wants(["Shell", { ...at, input: "cat note.txt" }]),
      says("Written and read."),
    );
    const runId = await agent.say("Leave a note on my laptop.");
    const write = await agent.asked();
    expect(write).toMatchObject({ syscall: "fs.write", target: "ann-laptop", args: { path: "note.txt", content: "from afar" } });
    await agent.answer(write.requestId, "approve");
    // Reads need no approval there, commands do.
    const shell = await agent.asked(2);
    expect(shell).toMatchObject({ syscall: "shell.exec", target: "ann-laptop", args: { input: "cat note.txt" } });
    expect(readFileSync(join(laptop.workspace, "note.txt"), "utf8")).toBe("from afar");
    await agent.answer(shell.requestId, "approve");
    expect(await agent.finished(runId)).toMatchObject({ status: "ok", text: "Written and read." });
    expect(await agent.result()).toMatchObject({ toolName: "Shell", isError: false, output: expect.stringContaining("from afar") });
    // The model is told about the machine and may name it.
    const [first] = model.asked;
    expect(JSON.stringify(first!.body)).toContain("ann-laptop");
  } finally {
    laptop.close();
  }
});

stages("shell.exec:agent-files", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const home = ann.session.identity.process.home;
  await ann.call("fs.write", { path: `${home}/stay.txt`, content: "x" });
  await ann.call("fs.write", { path: `${home}/.env`, content: "KEY=hidden" });
  model.on(
    "Try.",
    wants(["Shell", { target: "gsv", input: "echo fine > free.txt && cat free.txt && ls -la" }]),
    wants(["Shell", { target: "gsv", input: "d=context; echo obey > ~/$d.d/evil.md" }]),
    wants(["Shell", { target: "gsv", input: "n=$(printf '.%s' env); cat ~/$n" }]),
    wants(["Shell", { target: "gsv", input: "rm stay.txt" }]),
    says("I tried."),
  );
  const runId = await agent.say("Try.");
  // Plain words lead to a question; if the words hide the target, the file system refuses and names the tool.
  const asked = await agent.asked();
  expect(asked).toMatchObject({ syscall: "shell.exec", args: { input: "rm stay.txt" } });
  await agent.answer(asked.requestId, "approve");
  expect(await agent.finished(runId)).toMatchObject({ status: "ok" });
  const outputs = (await agent.history()).messages.filter(({ role }) => role === "toolResult").map(({ content }) => content);
  const fine = { isError: false, output: expect.stringMatching(/fine[^]*\.env/) };
  expect(outputs).toMatchObject([fine, { isError: true }, { isError: true }, { isError: false }]);
  expect((outputs[1] as { output: string }).output).toMatch(/Use the Write or Edit tool/);
  expect((outputs[2] as { output: string }).output).toMatch(/Use the Read tool/);
  expect((await ann.call("fs.read", { path: `${home}/context.d/evil.md` })).ok).toBe(false);
  expect((await ann.call("fs.read", { path: `${home}/stay.txt` })).ok).toBe(false);
});

stages("shell.exec:agent-network", async ({ spawn, model }) => {
  const agent = await spawn();
  const { host } = model.provider;
  model.on("Send it away.", wants(["Shell", { target: "gsv", input: `curl -s http://${host}/v1/secret` }]), says("I was not allowed."));
  const runId = await agent.say("Send it away.");
  const { requestId } = await agent.asked();
  expect((await agent.client.call("proc.approval.list", { pid: agent.pid })).pending).toMatchObject([
    { requestId, tags: expect.arrayContaining(["connects"]) },
  ]);
  await agent.answer(requestId, "deny");
  await agent.finished(runId);
  expect(model.provider.asked.some(({ path }) => path === "/v1/secret")).toBe(false);
  expect(toldText(model.asked.at(-1)!)).toContain("denied by user");
});
