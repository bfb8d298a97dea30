// Processes: listing, starting with a workspace and instructions, media, reset and kill, and isolation from other users.

import { expect } from "vitest";
import { kernelCalls } from "../../../src/kernel/calls/table.ts";
import { says, toldText, wants } from "../../support/models/scripted.ts";
import { stages } from "../stage.ts";
import { expectRefusal, refusal } from "../verifies.ts";
import { archived } from "./conversations.ts";

/** An image of one pixel. */
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

stages("proc.list:own", async ({ spawn, ann, uid, root, world }) => {
  const { pid } = await spawn({ label: "mine" });
  const { processes } = await ann.call("proc.list", {});
  expect(processes.find((one) => one.pid === pid)).toMatchObject({
    uid,
    username: "ann",
    profile: "task",
    parentPid: `init:${uid}`,
    state: "idle",
    label: "mine",
    workspaceId: null,
    cwd: "/home/ann",
    activeRunId: null,
    queuedCount: 0,
  });
  expect(new Set(processes.map((one) => one.uid))).toEqual(new Set([uid]));
  const bob = await world.bob();
  expect((await bob.call("proc.list", {})).processes.map((one) => one.pid)).not.toContain(pid);
  // A foreign and an absent user are refused alike.
  const refused = await Promise.all([uid, 99_999].map((one) => refusal(bob.call("proc.list", { uid: one }))));
  expect(refused[0]).toMatchObject({ code: 403 });
  expect(refused[0]).toEqual(refused[1]);
  expect((await root.call("proc.list", {})).processes.map((one) => one.pid)).toContain(pid);
  expect((await root.call("proc.list", { uid })).processes).toEqual((await ann.call("proc.list", {})).processes);
});

stages("proc.profile.list:profiles", async ({ ann }) => {
  const { profiles } = await ann.call("proc.profile.list", {});
  const shown = profiles.map(({ id, displayName, kind, interactive, startable, background, spawnMode }) => [
    id,
    displayName,
    kind,
    interactive,
    startable,
    background,
    spawnMode,
  ]);
  expect(shown).toEqual([
    ["init", "Home", "system", true, true, false, "singleton"],
    ["task", "Task", "system", true, true, false, "new"],
    ["review", "Review", "system", true, true, false, "new"],
    ["mcp", "Master Control", "system", true, true, false, "new"],
    ["app", "App Runtime", "system", false, false, false, "new"],
    ["cron", "Cron", "system", false, false, true, "new"],
  ]);
});

stages("proc.spawn:starts", async ({ ann, uid, model, spawn }) => {
  model.on("Begin.", says("I began."));
  const made = await ann.call("proc.spawn", { profile: "task", label: " tidy up ", prompt: "Begin." });
  expect(made).toMatchObject({ ok: true, label: "tidy up", profile: "task", workspaceId: null, cwd: "/home/ann" });
  expect(made.pid).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
  await expect
    .poll(async () => (await ann.call("proc.history", { pid: made.pid })).messages.map(({ content }) => content))
    .toEqual(["Begin.", "I began."]);
  // There is one init, which only accepts the prompt.
  const init = await ann.call("proc.spawn", { profile: "init", label: "another" });
  expect(init).toMatchObject({ pid: `init:${uid}`, label: "init (ann)" });
  expect((await ann.call("proc.list", {})).processes.filter(({ profile }) => profile === "init")).toHaveLength(1);
  const child = await spawn({ parentPid: made.pid });
  expect((await ann.call("proc.list", {})).processes.find(({ pid }) => pid === child.pid)).toMatchObject({ parentPid: made.pid });
  await expectRefusal(ann.call("proc.spawn", { profile: "wizard" }), 400, /^Invalid process profile: wizard/);
});

stages("proc.spawn:default-profile", async ({ ann, uid }) => {
  const made = await ann.call("proc.spawn", { label: "plain" });
  expect(made).toMatchObject({ ok: true, label: "plain", profile: "task" });
  expect((await ann.call("proc.list", {})).processes.find(({ pid }) => pid === made.pid)).toMatchObject({ uid, profile: "task" });
});

stages("proc.spawn:assignment", async ({ model, spawn }) => {
  const contextFiles = [{ name: "10-task.md", text: "Count the elephants." }];
  model.on("Begin.", says("None."));
  const agent = await spawn({ assignment: { contextFiles } });
  await agent.ask("Begin.");
  expect(JSON.stringify(model.asked[0]!.body)).toContain("Count the elephants.");
  model.on(/Begin with the assignment/, says("I count."));
  const started = await spawn({ assignment: { contextFiles, autoStart: true } });
  await expect.poll(async () => (await started.history()).messages.at(-1)).toMatchObject({ role: "assistant", content: "I count." });
});

stages("proc.spawn:workspace", async ({ ann, world }) => {
  const spawn = (workspace: object, more: object = {}) =>
    ann.call("proc.spawn", { profile: "task", workspace: workspace as never, ...more });
  const fresh = await spawn({ mode: "new", label: "garden" });
  expect(fresh).toMatchObject({ cwd: `/workspaces/${fresh.workspaceId}` });
  const { workspaces } = await ann.call("sys.workspace.list", {});
  expect(workspaces.find(({ workspaceId }) => workspaceId === fresh.workspaceId)).toMatchObject({ label: "garden", kind: "thread" });
  const { pid, workspaceId, cwd } = fresh;
  // A directory to work in, not only a name.
  expect(await ann.call("fs.write", { path: `${cwd}/plan.md`, content: "tulips\n" })).toMatchObject({ ok: true });
  expect(await ann.call("fs.read", { path: `${cwd}/plan.md` })).toMatchObject({ ok: true });
  expect(await spawn({ mode: "inherit" }, { parentPid: pid })).toMatchObject({ workspaceId, cwd });
  expect(await ann.call("proc.spawn", { profile: "task", parentPid: pid })).toMatchObject({ workspaceId, cwd });
  expect(await spawn({ mode: "none" }, { parentPid: pid })).toMatchObject({ workspaceId: null, cwd: "/home/ann" });
  expect(await spawn({ mode: "attach", workspaceId })).toMatchObject({ workspaceId, cwd });
  const bob = await world.bob();
  const [foreign, absent] = await Promise.all(
    [workspaceId!, "ws_00000000-0000-4000-8000-000000000000"].map(async (id) => {
      const error = await refusal(bob.call("proc.spawn", { profile: "task", workspace: { mode: "attach", workspaceId: id } }));
      return JSON.stringify(error).replaceAll(id, "<id>");
    }),
  );
  expect(foreign).toBe(absent);
});

stages("proc.spawn:parent", async ({ spawn, ann, uid, root, world }) => {
  const { pid } = await spawn();
  const bob = await world.bob();
  const asked = async (parentPid: string) =>
    JSON.stringify(await refusal(bob.call("proc.spawn", { profile: "task", parentPid }))).replaceAll(parentPid, "<pid>");
  expect(await asked(pid)).toBe(await asked("00000000-0000-4000-8000-000000000000"));
  // The child belongs to its parent's user, whoever starts it.
  const child = await root.call("proc.spawn", { profile: "task", parentPid: pid });
  expect((await ann.call("proc.list", {})).processes.find((one) => one.pid === child.pid)).toMatchObject({
    uid,
    username: "ann",
    cwd: "/home/ann",
  });
});

stages("proc.list:foreign", async ({ spawn, world }) => {
  const { pid: foreign } = await spawn();
  const absent = "00000000-0000-4000-8000-000000000000";
  const bob = await world.bob();
  const withPid = kernelCalls.filter(
    ({ args, from, only }) => "pid" in (args as unknown as { shape: object }).shape && from.includes("user") && only === undefined,
  );
  expect(withPid.length).toBeGreaterThan(25);
  for (const { name, example } of withPid) {
    const ask = async (pid: string) =>
      JSON.stringify(
        await bob.call(name, { ...example.args, pid }).then(
          (value) => ({ value }),
          ({ code, message, details }: { code: number; message: string; details: unknown }) => ({ code, message, details }),
        ),
      ).replaceAll(pid, "<pid>");
    expect(await ask(foreign), name).toBe(await ask(absent));
  }
});

for (const name of ["proc.setidentity", "proc.ipc.deliver"])
  stages(`${name}:kernel-only`, async ({ ann, root }) => {
    for (const client of [ann, root]) await expectRefusal(client.call(name, {}), 403, `Permission denied: ${name}`);
  });

stages("proc.kill:archives", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("1", says("One.")).on("2", says("Two.")).on("Hang.", { hang: true });
  await agent.ask("1");
  await agent.ask("2", { conversationId: "other talk" });
  const active = await agent.say("Hang.");
  await expect.poll(() => model.asked.length).toBe(3);
  const waiting = await agent.say("Wait.");
  const killed = await ann.call("proc.kill", { pid });
  const root = new RegExp(`^/var/sessions/ann/${pid}/[\\da-f-]{36}/`);
  expect(killed).toMatchObject({ ok: true, pid, archivedMessages: 5, archivedTo: expect.stringMatching(root) });
  for (const runId of [active, waiting])
    expect(await agent.finished(runId)).toMatchObject({ status: "aborted", reason: "process.kill", aborted: true });
  const { archives, archivedTo } = killed;
  expect(archives.toSorted((a, b) => a.conversationId.localeCompare(b.conversationId))).toEqual([
    { conversationId: "default", generation: 1, messages: 3, path: `${archivedTo}default.gen-1.jsonl.gz` },
    { conversationId: "other talk", generation: 1, messages: 2, path: `${archivedTo}other%20talk.gen-1.jsonl.gz` },
  ]);
  for (const { path, messages } of archives) expect(await archived(ann, path)).toHaveLength(messages);
  // fs.read finds the archives at the reported path.
  expect(await ann.call("fs.read", { path: archivedTo! })).toMatchObject({
    ok: true,
    files: expect.arrayContaining(["default.gen-1.jsonl.gz"]),
  });
  const { conversations } = await ann.call("proc.conversation.list", { pid });
  expect(conversations.map(({ generation, messageCount, status }) => [generation, messageCount, status])).toEqual([
    [2, 0, "open"],
    [2, 0, "open"],
  ]);
  // It stays in the list and accepts messages again.
  model.on("Hello?", says("Hello again."));
  expect(await agent.ask("Hello?")).toMatchObject({ status: "ok", text: "Hello again." });
  expect(toldText(model.asked.at(-1)!)).not.toContain("One.");
  expect(await ann.call("proc.kill", { pid, archive: false })).toEqual({ ok: true, pid, archivedMessages: 0, archives: [] });
  expect((await agent.history()).messageCount).toBe(0);
});

stages("proc.reset:archives", async ({ spawn, model, ann, world }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("1", says("One."));
  await agent.ask("1");
  const reset = await ann.call("proc.reset", { pid });
  expect(reset).toMatchObject({
    ok: true,
    pid,
    archivedMessages: 2,
    archives: [{ conversationId: "default", generation: 1, messages: 2 }],
  });
  expect(await archived(ann, reset.archives[0]!.path)).toMatchObject([{ content: "1" }, { content: "One." }]);
  expect((await agent.history()).messages).toEqual([]);
  expect(agent.of("proc.changed").some(({ event }) => event === "process.reset")).toBe(true);
  // Other users have no access.
  const foreign = await (await world.bob()).call("shell.exec", { input: `cat ${reset.archives[0]!.path}` });
  expect(foreign).toMatchObject({ status: "failed" });
  expect(await ann.call("proc.reset", { pid })).toEqual({ ok: true, pid, archivedMessages: 0, archives: [] });
});

stages("proc.send:media", async ({ spawn, model, ann, uid, serve }) => {
  for (const wire of ["chat", "responses", "anthropic"] as const) {
    await serve(wire);
    const agent = await spawn();
    const { pid } = agent;
    model.on(/^What is this\?/, says("A dot."));
    const media = [
      { type: "image" as const, mimeType: "image/png", data: `data:image/png;base64,${DOT}` },
      { type: "document" as const, mimeType: "application/pdf", url: "https://example.org/a.pdf", filename: "a.pdf" },
    ];
    const { runId } = await ann.call("proc.send", { pid, message: "What is this?", media });
    await agent.finished(runId);
    const [user] = (await agent.history()).messages;
    expect(user!.content).toMatchObject({
      text: "What is this?",
      media: [
        {
          type: "image",
          mimeType: "image/png",
          key: expect.stringMatching(new RegExp(`^var/media/${uid}/${pid}/[\\da-f-]{36}\\.png$`)),
          size: 70,
        },
        { type: "document", url: "https://example.org/a.pdf", filename: "a.pdf" },
      ],
    });
    // As an image on the wire, never as text.
    const body = JSON.stringify(model.asked.at(-1)!.body);
    expect(body, wire).toContain(DOT);
    const shape = { chat: '"type":"image_url"', responses: '"type":"input_image"', anthropic: '"type":"image"' }[wire];
    expect(body, wire).toContain(shape);
    expect(body).toContain("a.pdf");
  }
});

stages("proc.media.read:type", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on(/^See\./, says("Seen."));
  const data = btoa("hello");
  const media = [
    { type: "image" as const, mimeType: "image/png", data: DOT },
    { type: "document" as const, mimeType: "text/plain", data },
  ];
  await agent.finished((await ann.call("proc.send", { pid, message: "See.", media })).runId);
  const kept = ((await agent.history()).messages[0]!.content as { media: { key: string; mimeType: string }[] }).media;
  const [picture, text] = kept.map(({ key }) => key);
  const read = (key: string, mimeType?: string) =>
    ann.call("proc.media.read", { pid, key, ...(mimeType === undefined ? {} : { mimeType }) });
  expect(await read(picture!)).toEqual({
    ok: true,
    pid,
    key: picture,
    mimeType: "image/png",
    size: 70,
    dataUrl: `data:image/png;base64,${DOT}`,
  });
  // The name does not reveal the type.
  expect(await read(text!)).toMatchObject({ mimeType: "application/octet-stream" });
  expect(await read(text!, kept[1]!.mimeType)).toMatchObject({
    mimeType: "text/plain",
    size: 5,
    dataUrl: `data:text/plain;base64,${data}`,
  });
  for (const wrong of ["text", "text/html,<script>", "text/plain;base64,aGk=", "a/b\n", ""])
    await expectRefusal(read(text!, wrong), 400, /mimeType/);
});

stages("proc.media.read:own", async ({ spawn, model, ann, world }) => {
  const [agent, other] = [await spawn(), await spawn()];
  const { pid } = agent;
  model.on("See.", says("A dot."));
  const { runId } = await ann.call("proc.send", { pid, message: "See.", media: [{ type: "image", mimeType: "image/png", data: DOT }] });
  await agent.finished(runId);
  const { key } = ((await agent.history()).messages[0]!.content as { media: { key: string }[] }).media[0]!;
  expect(await ann.call("proc.media.read", { pid, key })).toMatchObject({ ok: true, pid, dataUrl: `data:image/png;base64,${DOT}` });
  await expectRefusal(ann.call("proc.media.read", { pid: other.pid, key }), 404);
  await expectRefusal(ann.call("proc.media.read", { pid, key: `${key}/../../x` }), 404);
  const bob = await world.bob();
  await expectRefusal(bob.call("proc.media.read", { pid, key }), 404);
  await expectRefusal(bob.call("proc.media.read", { key }), 404);
  // Media is removed with the conversations it belongs to.
  await ann.call("proc.reset", { pid });
  await expectRefusal(ann.call("proc.media.read", { pid, key }), 404);
});

stages("fs.read:agent-image", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  await ann.call("shell.exec", { input: `echo ${DOT} | base64 -d > ~/dot.png` });
  model.on("Look at it.", wants(["Read", { target: "gsv", path: "dot.png" }]), says("I see a dot."));
  expect(await agent.ask("Look at it.")).toMatchObject({ status: "ok", text: "I see a dot." });
  const body = JSON.stringify(model.asked.at(-1)!.body);
  expect(body).toContain(DOT);
  expect(body).toContain('"type":"image_url"');
  expect((await agent.result()).output).not.toContain(DOT);
});
