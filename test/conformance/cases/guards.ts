// Guards around agents: restarts, locked owners, floods, and how they appear as files.

import { expect } from "vitest";
import { says, toldText, wants } from "../../support/models/scripted.ts";
import { stages, watch } from "../stage.ts";
import { expectRefusal } from "../verifies.ts";

stages("proc.hil:restart", async ({ spawn, model, ann, world }) => {
  const agent = await spawn();
  const path = "/home/ann/restart.txt";
  await ann.call("fs.write", { path, content: "x" });
  const { token } = await ann.call("sys.token.create", { kind: "user" });
  model.on("Remember the number 12.", says("Twelve."));
  // A queued message joins the run after its call has run, so one answer covers both.
  model.on("Delete it.", wants(["Delete", { target: "gsv", path }])).on("And then this.", says("Gone, and the next."));
  await agent.ask("Remember the number 12.");
  const runId = await agent.say("Delete it.");
  const asked = await agent.asked();
  const waiting = await agent.say("And then this.");
  const { seq } = await ann.call("proc.subscribe", { pid: agent.pid });
  const before = (await ann.call("proc.approval.list", { pid: agent.pid })).pending;
  await world.host.restart();
  // The same question for the same call, and the queued message is still queued.
  const back = await world.connect({ username: "ann", token: token.token });
  expect((await back.call("proc.approval.list", { pid: agent.pid })).pending).toEqual(before);
  expect((await back.call("proc.queue.list", { pid: agent.pid })).messages).toMatchObject([{ runId: waiting }]);
  expect((await back.call("fs.read", { path })).ok).toBe(true);
  const again = await watch(back, agent.pid);
  await again.answer(asked.requestId, "approve");
  expect(await again.finished(runId)).toMatchObject({ status: "ok", text: "Gone, and the next." });
  expect(await again.finished(waiting)).toMatchObject({ status: "ok", text: "Gone, and the next." });
  expect((await back.call("fs.read", { path })).ok).toBe(false);
  expect(toldText(model.asked.at(-1)!)).toContain("Remember the number 12.");
  const since = await back.call("proc.subscribe", { pid: agent.pid, after: seq });
  expect(since.isWhole).toBe(true);
  const ends = since.events.filter(({ signal }) => signal === "proc.run.finished").map(({ payload }) => payload.runId);
  expect(ends).toHaveLength(2);
  expect(new Set(ends)).toEqual(new Set([runId, waiting]));
  again.stop();
});

stages("sys.user.lock:agents", async ({ model, somebody, root }) => {
  const person = await somebody();
  const { username, home } = person.session.identity.process;
  const { pid } = await person.call("proc.spawn", { profile: "task" });
  const release = model.holds("Write it.", wants(["Write", { target: "gsv", path: `${home}/locked.txt`, content: "x" }]));
  const { runId } = await person.call("proc.send", { pid, message: "Write it." });
  await expect.poll(() => model.asked.length).toBe(1);
  await root.call("sys.user.lock", { username, locked: true });
  release();
  // A locked user's processes do nothing: no call runs, and no model is called.
  const last = async () => (await root.call("proc.history", { pid })).messages.at(-1);
  await expect.poll(last, { message: runId }).toMatchObject({ role: "system", content: expect.stringMatching(/run was ended.*locked/) });
  expect((await root.call("fs.read", { path: `${home}/locked.txt` })).ok).toBe(false);
  expect(model.asked).toHaveLength(1);
  await root.call("sys.user.lock", { username, locked: false });
  model.on(/And now\?$/, says("Free again."));
  await root.call("proc.send", { pid, message: "And now?" });
  await expect.poll(last).toMatchObject({ role: "assistant", content: "Free again." });
});

stages("proc.kill:locked", async ({ model, somebody, root, set }) => {
  await set("config/shell/wait_ms", "300");
  const person = await somebody();
  const { username, uid } = person.session.identity.process;
  const { pid } = await person.call("proc.spawn", { profile: "task" });
  model.on("Start it.", wants(["Shell", { target: "gsv", input: "sleep 1000" }]), says("It runs."));
  const media = [{ type: "image" as const, mimeType: "image/gif", data: "R0lGODlhAQABAAAAACw=" }];
  await person.call("proc.send", { pid, message: "Start it.", media });
  const last = async () => (await root.call("proc.history", { pid })).messages.at(-1);
  await expect.poll(last).toMatchObject({ role: "assistant", content: "It runs." });
  const release = model.holds("Wait.", says("Never said."));
  await person.call("proc.send", { pid, message: "Wait." });
  await expect.poll(() => model.asked.length).toBe(3);
  await root.call("sys.user.lock", { username, locked: true });
  const ended = await root.call("proc.kill", { pid });
  release();
  expect(ended).toMatchObject({ ok: true, archives: [{ conversationId: "default" }] });
  expect(ended.stillRunning).toBeUndefined();
  expect((await root.call("proc.history", { pid })).messages).toEqual([]);
  expect(await root.call("fs.read", { path: ended.archivedTo! })).toMatchObject({ ok: true, files: [expect.any(String)] });
  expect(await root.call("fs.read", { path: `/var/media/${uid}/${pid}` })).toMatchObject({ ok: true, files: [] });
  expect(await root.call("proc.kill", { pid })).toMatchObject({ ok: true, archivedMessages: 0 });
});

stages("proc.spawn:mounts", async ({ somebody }) => {
  const person = await somebody();
  const mounts = [{ kind: "package-source", packageId: "x" }];
  await expectRefusal(
    person.call("proc.spawn", { profile: "task", mounts }),
    400,
    "mounts are not supported: this gateway has no packages. Leave them out",
  );
  expect(await person.call("proc.spawn", { profile: "task", mounts: [] })).toMatchObject({ ok: true });
});

stages("proc.spawn:limit", async ({ set, somebody }) => {
  const person = await somebody();
  await set("config/process/max_per_user", "2");
  await person.call("proc.spawn", { profile: "task" });
  await expectRefusal(person.call("proc.spawn", { profile: "task" }), 429, /config\/process\/max_per_user/);
});

stages("proc.send:flood", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  const release = model.holds("One", says("First."));
  await agent.say("One");
  await expect.poll(() => model.asked.length).toBe(1);
  const sent = await Promise.allSettled(Array.from({ length: 103 }, (_, at) => ann.call("proc.send", { pid, message: `more ${at}` })));
  expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
  const refused = sent.flatMap((one) => (one.status === "rejected" ? [one.reason as { code: number }] : []));
  expect(refused.map(({ code }) => code)).toEqual([429, 429, 429]);
  // One call of the person ends every accepted run.
  expect(await ann.call("proc.kill", { pid })).toMatchObject({ ok: true });
  release();
  await expect.poll(() => agent.of("proc.run.finished").length).toBe(101);
  expect(new Set(agent.of("proc.run.finished").map(({ runId }) => runId)).size).toBe(101);
});

stages("fs.read:proc", async ({ spawn, model, ann, uid, world }) => {
  const agent = await spawn({ label: "seen", assignment: { contextFiles: [{ name: "10-task.md", text: "Be seen." }] } });
  const { pid } = agent;
  const read = async (path: string, by = ann) => {
    const found = await by.call("fs.read", { path });
    return found.ok && "content" in found && typeof found.content === "string" ? found.content : null;
  };
  const status = await read(`/proc/${pid}/status`);
  for (const line of ["Name:\tseen", `Pid:\t${pid}`, `PPid:\tinit:${uid}`, "Profile:\ttask", "State:\tidle", `Uid:\t${uid}`])
    expect(status).toContain(line);
  expect(await read(`/proc/${pid}/identity`)).toContain('"profile": "task"');
  expect(await read(`/proc/${pid}/context.d/10-task.md`)).toContain("Be seen.");
  expect(await ann.call("fs.read", { path: "/proc" })).toMatchObject({
    ok: true,
    directories: expect.arrayContaining([pid, `init:${uid}`]),
  });
  // Inside an agent's command, self is the agent.
  model.on("Who are you?", wants(["Shell", { target: "gsv", input: "cat /proc/self/status; proc self" }]), says("That is me."));
  await agent.ask("Who are you?");
  expect(toldText(model.asked.at(-1)!)).toContain(`Pid:\\t${pid}`);
  expect(await read(`/proc/${pid}/status`, await world.bob())).toBeNull();
});
