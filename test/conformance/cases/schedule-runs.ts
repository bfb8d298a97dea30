// Runs of schedules: by themselves and on request, with whose rights, and what remains of them.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { says, wants } from "../../support/models/scripted.ts";
import { ABSENT, UUID, HOUR_MS, SOON, SPAWN, NOWHERE, addSchedule, findSchedule, listRuns, waitForRun, runNow } from "../schedules.ts";
import { stages } from "../stage.ts";
import { expectRefusal, verifies } from "../verifies.ts";

stages("sched.add:spawns", async ({ model, ann, root, again, uid }) => {
  model.on("Say hello.", says("Hello, nobody."));
  const { id, state } = await addSchedule(ann, { name: "Greeting", expression: SOON, target: { ...SPAWN, prompt: "Say hello." } });
  ann.close();
  root.close();
  await expect.poll(() => model.asked.length).toBe(1);
  const client = await again();
  const run = await waitForRun(client, id);
  expect(run).toMatchObject({
    scheduleId: id,
    dueAtMs: state.nextRunAtMs,
    status: "ok",
    error: null,
    summary: "Hello, nobody.",
    missed: 0,
  });
  expect(run.startedAtMs).toBeGreaterThanOrEqual(state.nextRunAtMs!);
  expect(run.conversationId).toBe("default");
  const pid = run.pid!;
  expect((await client.call("proc.list", {})).processes.find((one) => one.pid === pid)).toMatchObject({
    uid,
    profile: "cron",
    label: "Greeting",
    parentPid: `init:${uid}`,
    state: "idle",
  });
  expect((await client.call("proc.history", { pid })).messages).toMatchObject([
    { role: "user", content: "Say hello." },
    { role: "assistant", content: "Hello, nobody." },
  ]);
  const after = (await findSchedule(client, id))!;
  expect(after).toMatchObject({
    enabled: false,
    state: { nextRunAtMs: null, runningAtMs: null, lastStatus: "ok", lastError: null, runCount: 1 },
  });
  expect(after.state.lastRunAtMs).toBe(run.startedAtMs);
  expect(after.state.lastDurationMs).toBe(run.finishedAtMs! - run.startedAtMs);
  const { notifications } = await client.call("notification.list", {});
  expect(notifications.filter(({ source }) => source.kind === "kernel" && source.processId === pid)).toMatchObject([
    {
      title: "Greeting",
      body: "Hello, nobody.",
      level: "info",
      source: { kind: "kernel", topic: "schedules", processId: pid },
      actions: [{ kind: "open", label: "Open", target: `/chat/${pid}` }],
    },
  ]);
  expect(model.asked).toHaveLength(1);
});

verifies(
  "sched.add:event",
  async ({ alice }) => {
    const client = await alice();
    const { pid } = await client.call("proc.spawn", { profile: "task" });
    const data = { left: [1, 2], why: "because" };
    const target = { kind: "process.event" as const, pid, conversationId: "news", message: "Look at the news.", data };
    const { id, state } = await addSchedule(client, { name: "News", expression: SOON, target });
    const atMs = state.nextRunAtMs!;
    // Without a conversation and data, and forced: there is no time that it was scheduled for.
    const plain = await addSchedule(client, { name: "Plain", target: { kind: "process.event", pid, message: "Look." } });
    expect(await client.call("sched.run", { id: plain.id, mode: "force" })).toMatchObject({ ran: 1, results: [{ status: "ok" }] });
    let run = (await listRuns(client, id))[0];
    while (run === undefined || run.status === "running") {
      await sleep(100, new AbortController().signal);
      run = (await listRuns(client, id))[0];
    }
    expect(run).toMatchObject({ pid, conversationId: "news", dueAtMs: atMs });
    const [message] = (await client.call("proc.history", { pid, conversationId: "news" })).messages;
    expect(message!.role).toBe("system");
    const [, said, json] = /^([^]*)\n\n```json\n([^]*)\n```$/.exec(String(message!.content)) ?? [];
    expect(said?.split("\n")).toEqual([
      `[process event: schedule.event] Schedule "News" (${id}) has fired.`,
      `Scheduled for: ${new Date(atMs).toISOString()}.`,
      `Fired at: ${new Date(run.startedAtMs).toISOString()}.`,
      "",
      "Look at the news.",
    ]);
    expect(JSON.parse(json!)).toEqual(data);
    const [forced] = await listRuns(client, plain.id);
    expect(forced).toMatchObject({ pid, dueAtMs: null });
    expect((await client.call("proc.history", { pid })).messages[0]).toMatchObject({
      role: "system",
      content: [
        `[process event: schedule.event] Schedule "Plain" (${plain.id}) has fired.`,
        `Fired at: ${new Date(forced!.startedAtMs).toISOString()}.`,
        "",
        "Look.",
      ].join("\n"),
    });
    const { events } = await client.call("proc.subscribe", { pid, after: 0 });
    expect(events.find(({ signal }) => signal === "proc.run.started")?.payload).toMatchObject({ reason: "schedule.event" });
    expect(await findSchedule(client, id)).toMatchObject({ enabled: false, state: { nextRunAtMs: null, runCount: 1 } });
    await client.call("sched.remove", { id: plain.id });
  },
  { waits: true },
);

verifies(
  "sched.add:fails-once",
  async ({ alice }) => {
    const client = await alice();
    const target = { ...SPAWN, workspace: { mode: "attach" as const, workspaceId: `ws_${ABSENT}` } };
    const { id } = await addSchedule(client, { name: "Doomed", expression: SOON, target, notify: "failures" });
    while ((await listRuns(client, id)).length === 0) await sleep(100, new AbortController().signal);
    const error = `Workspace not found: ws_${ABSENT}`;
    const told = async () =>
      (await client.call("notification.list", {})).notifications.find(({ title }) => title === "Schedule failed: Doomed");
    while ((await told()) === undefined) await sleep(100, new AbortController().signal);
    expect(await told()).toMatchObject({ body: error, level: "error", source: { kind: "kernel", topic: "schedules" } });
    expect(await listRuns(client, id)).toMatchObject([{ status: "error", error, summary: null }]);
    expect(await findSchedule(client, id)).toMatchObject({
      enabled: false,
      state: { nextRunAtMs: null, runningAtMs: null, lastStatus: "error", lastError: error, runCount: 1 },
    });
  },
  { waits: true },
);

stages("sched.add:overlap", async ({ model, ann }) => {
  const release = model.holds("Take long.", says("Long."));
  const every = { kind: "every" as const, everyMs: 1_000 };
  const { id } = await addSchedule(ann, { expression: every, enabled: false, target: { ...SPAWN, prompt: "Take long." } });
  const forced = () => ann.call("sched.run", { id, mode: "force" });
  expect(await forced()).toMatchObject({ ran: 1 });
  expect((await findSchedule(ann, id))!.state.runningAtMs).toEqual(expect.any(Number));
  expect(await forced()).toMatchObject({ ran: 0, results: [{ status: "skipped", error: "its last run is still at work" }] });
  const nextRunAtMs = (await ann.call("sched.update", { id, patch: { enabled: true } })).schedule.state.nextRunAtMs!;
  await expect.poll(() => listRuns(ann, id)).toHaveLength(2);
  const [skipped, first] = await listRuns(ann, id);
  expect(skipped).toMatchObject({ dueAtMs: nextRunAtMs, status: "skipped", error: "The run before was still at work", pid: null });
  expect(first).toMatchObject({ status: "running", finishedAtMs: null, dueAtMs: null });
  const meanwhile = (await findSchedule(ann, id))!;
  expect(meanwhile).toMatchObject({ enabled: true, state: { lastStatus: "skipped", runCount: 1 } });
  // The beat is kept.
  expect((meanwhile.state.nextRunAtMs! - nextRunAtMs) % 1_000).toBe(0);
  await ann.call("sched.update", { id, patch: { enabled: false } });
  release();
  await expect.poll(async () => (await listRuns(ann, id)).at(-1)).toMatchObject({ status: "ok", summary: "Long." });
  expect(await findSchedule(ann, id)).toMatchObject({ state: { runningAtMs: null, lastStatus: "ok" } });
});

stages("sched.add:restart", async ({ spawn, model, ann, again, world }) => {
  const [watcher, source] = [await spawn(), await spawn()];
  model.on("After the night.", says("Morning."));
  model.otherwise(says("Fine."));
  const watch = { signal: "proc.run.finished", pid: watcher.pid, processId: source.pid, key: "night", state: { n: 1 } };
  const { watchId } = await ann.call("signal.watch", watch);
  const { notification } = await ann.call("notification.create", { title: "Before the night" });
  const later = await addSchedule(ann, { name: "Later", expression: { kind: "every", everyMs: HOUR_MS } });
  const due = await addSchedule(ann, { name: "Due", expression: SOON, target: { ...SPAWN, prompt: "After the night." } });
  const ofWatcher = async (client: Client) => (await client.call("signal.list", {})).watches.find((one) => one.watchId === watchId);
  const before = await ofWatcher(ann);
  await world.host.restart();
  // No client connects until it has run.
  await expect.poll(() => model.asked.length).toBeGreaterThan(0);
  const client = await again();
  expect(await waitForRun(client, due.id)).toMatchObject({ status: "ok", summary: "Morning.", dueAtMs: due.state.nextRunAtMs, missed: 0 });
  expect(await listRuns(client, due.id)).toHaveLength(1);
  expect(await findSchedule(client, later.id)).toEqual(later);
  expect((await client.call("notification.list", {})).notifications).toContainEqual(notification);
  expect(await ofWatcher(client)).toEqual(before);
  await client.call("proc.send", { pid: source.pid, message: "Well?" });
  const told = async () => (await client.call("proc.history", { pid: watcher.pid })).messages.map(({ role }) => role);
  await expect.poll(told).toEqual(["system", "assistant"]);
  await client.call("sched.remove", { id: later.id });
});

stages("sched.add:workspace", async ({ spawn, model, ann }) => {
  const parent = await spawn();
  model.on("Begin.", says("Begun."));
  const assignment = { contextFiles: [{ name: "brief.md", text: "The brief of the schedule." }] };
  const target = { kind: "process.spawn" as const, prompt: "Begin.", profile: "task", label: "Night shift", parentPid: parent.pid };
  const { id } = await addSchedule(ann, { target: { ...target, workspace: { mode: "new" }, mounts: [], assignment } });
  const { pid } = await runNow(ann, id);
  const made = (await ann.call("proc.list", {})).processes.find((one) => one.pid === pid);
  expect(made).toMatchObject({ profile: "task", label: "Night shift", parentPid: parent.pid, workspaceId: expect.stringMatching(/^ws_/) });
  expect(JSON.stringify(model.asked[0]!.body)).toContain("The brief of the schedule.");
});

stages("sched.add:init", async ({ model, ann, uid }) => {
  model.otherwise(says("At home."));
  const { id } = await addSchedule(ann, { target: { kind: "process.spawn", profile: "init", prompt: "Are you there?" } });
  for (let runs = 1; runs <= 3; runs++) {
    expect(await runNow(ann, id)).toMatchObject({ status: "ok", summary: "At home.", pid: `init:${uid}` });
    expect(await listRuns(ann, id)).toHaveLength(runs);
  }
  expect((await ann.call("proc.history", { tail: true, limit: 2 })).messages).toMatchObject([
    { role: "user", content: "Are you there?" },
    {},
  ]);
});

stages("sched.run:force", async ({ model, ann }) => {
  model.otherwise(says("Done."));
  await expectRefusal(ann.call("sched.run", { mode: "force" }), 400, "sched.run force requires an id");
  await expectRefusal(ann.call("sched.run", { mode: "now" as "due" }), 400, /^mode /);
  const enabled = await addSchedule(ann, { target: { ...SPAWN, prompt: "  Go.  " } });
  const disabled = await addSchedule(ann, { enabled: false, expression: { kind: "after", afterMs: HOUR_MS } });
  for (const { id, enabled: isEnabled, state } of [enabled, disabled]) {
    const answer = await ann.call("sched.run", { id, mode: "force" });
    const { pid, startedAtMs, status } = await waitForRun(ann, id);
    expect(status).toBe("ok");
    expect(answer.ran).toBe(1);
    expect(answer.results).toEqual([
      {
        scheduleId: id,
        status: "ok",
        // The answer of the process, if it was that quick.
        summary: expect.stringMatching(new RegExp(`^(?:Done\\.|.*process ${pid})$`)),
        durationMs: expect.any(Number),
        nextRunAtMs: state.nextRunAtMs,
      },
    ]);
    expect(await findSchedule(ann, id)).toMatchObject({
      enabled: isEnabled,
      state: { nextRunAtMs: state.nextRunAtMs, runningAtMs: null, lastRunAtMs: startedAtMs, lastStatus: "ok", runCount: 1 },
    });
  }
  await ann.call("sched.remove", { id: enabled.id });
});

verifies(
  "sched.run:due",
  async ({ alice, root }) => {
    const [client, admin] = [await alice(), await root()];
    const { pid } = await client.call("proc.spawn", { profile: "task" });
    const target = { kind: "process.event" as const, pid, message: "Look." };
    const { id, state } = await addSchedule(client, { expression: SOON, target });
    const skipped = (scheduleId: string, error: string, nextRunAtMs: number | null) => ({
      ran: 0,
      results: [{ scheduleId, status: "skipped", error, durationMs: expect.any(Number), nextRunAtMs }],
    });
    const disabled = await addSchedule(client, { target, enabled: false });
    expect(await client.call("sched.run", { id: disabled.id })).toEqual(skipped(disabled.id, "the schedule is disabled", null));
    const yearly = await addSchedule(client, { target });
    expect(await client.call("sched.run", { id: yearly.id })).toEqual(skipped(yearly.id, "it is not due yet", yearly.state.nextRunAtMs));
    // The gateway runs it by itself; whoever else asks for it at the same time, it runs once.
    const results = [];
    for (let isDone = false; !isDone;) {
      const answers = await Promise.all([
        client.call("sched.run", { id }),
        client.call("sched.run", {}),
        admin.call("sched.run", { id, mode: "due" }),
        admin.call("sched.run", {}),
      ]);
      for (const { ran, results: all } of answers) {
        expect(ran).toBe(all.filter(({ status }) => status !== "skipped").length);
        results.push(...all.filter(({ scheduleId }) => scheduleId === id));
      }
      isDone = (await listRuns(client, id)).length > 0;
      if (!isDone) await sleep(250, new AbortController().signal);
    }
    expect(await listRuns(client, id)).toMatchObject([{ dueAtMs: state.nextRunAtMs, pid }]);
    expect(results.filter(({ status }) => status === "ok").length).toBeLessThanOrEqual(1);
    expect(results.every(({ status }) => status !== "error")).toBe(true);
    expect(await findSchedule(client, id)).toMatchObject({ enabled: false, state: { nextRunAtMs: null, runCount: 1 } });
    expect(await client.call("sched.run", { id })).toEqual(skipped(id, "the schedule is disabled", null));
    expect(await listRuns(client, yearly.id)).toEqual([]);
    await client.call("sched.remove", { id: yearly.id });
  },
  { waits: true },
);

stages("sched.run:rights", async ({ root, model, somebody, world }) => {
  const person = await somebody();
  const { username } = person.session.identity.process;
  const { id } = await addSchedule(person);
  const byRoot = () => root.call("sched.run", { id, mode: "force" });
  await root.call("sys.user.lock", { username, locked: true });
  expect(await byRoot()).toMatchObject({
    ran: 1,
    results: [{ status: "error", error: expect.stringMatching(/^Permission denied: .*locked/) }],
  });
  await root.call("sys.user.lock", { username, locked: false });
  await root.call("sys.capability.revoke", { gid: 100, capability: "proc.spawn" });
  try {
    expect(await byRoot()).toMatchObject({ ran: 1, results: [{ status: "error", error: "Permission denied: proc.spawn" }] });
  } finally {
    await root.call("sys.capability.grant", { gid: 100, capability: "proc.spawn" });
  }
  expect(model.asked).toEqual([]);
  const whose = async () => (await root.call("sched.list", { limit: 500 })).schedules.find((one) => one.id === id);
  expect(await whose()).toMatchObject({
    enabled: true,
    state: { lastStatus: "error", lastError: "Permission denied: proc.spawn", runCount: 2 },
  });
  // With its rights again it works, as its owner.
  model.on("Do it.", says("Done."));
  await byRoot();
  expect(await waitForRun(root, id)).toMatchObject({ status: "ok", summary: "Done." });
  const { pid } = (await listRuns(root, id))[0]!;
  expect((await root.call("proc.list", {})).processes.find((one) => one.pid === pid)).toMatchObject({ username });
  // A process of somebody else is like one that does not exist, even if root has named it.
  const { pid: foreign } = await (await world.bob()).call("proc.spawn", { profile: "task" });
  await root.call("sched.update", { id, patch: { target: { kind: "process.event", pid: foreign, message: "x" } } });
  expect((await byRoot()).results).toMatchObject([{ status: "error", error: `Process not found: ${foreign}` }]);
  await root.call("sched.remove", { id });
});

stages("sched.run:key", async ({ model, somebody }) => {
  const person = await somebody();
  model.on("Do it.", says("Done."));
  const { id } = await addSchedule(person);
  const { id: other } = await addSchedule(person);
  const force = (which: string, key: string) => person.call("sched.run", { id: which, mode: "force" }, { key });
  const answers = await Promise.all([force(id, "one"), force(id, "one")]);
  expect(answers[0]).toMatchObject({ ran: 1, results: [{ scheduleId: id, status: "ok" }] });
  await waitForRun(person, id);
  expect(await force(id, "one")).toEqual(answers[0]);
  expect(await listRuns(person, id)).toHaveLength(1);
  await expectRefusal(force(other, "one"), 409, "This key was used for another request");
  expect(await listRuns(person, other)).toEqual([]);
  expect(await force(id, "two")).toMatchObject({ ran: 1 });
  await waitForRun(person, id);
  expect(await listRuns(person, id)).toHaveLength(2);
});

stages("sched.run:paused", async ({ model, somebody }) => {
  const person = await somebody();
  model.on("Do it.", { status: 401 });
  const { id } = await addSchedule(person, { name: "Broken", notify: "none" });
  const notified = async () =>
    (await person.call("notification.list", {})).notifications.map(({ title, level, source }) => ({ title, level, source }));
  // A run whose process fails is a failure of the schedule, and so is one that cannot be started.
  const run = () => person.call("sched.run", { id, mode: "force" });
  expect(await run()).toMatchObject({ ran: 1 });
  const failure = await waitForRun(person, id);
  expect(failure).toMatchObject({ status: "error", error: expect.stringMatching(/./), summary: null, pid: expect.stringMatching(UUID) });
  await person.call("sched.update", { id, patch: { target: NOWHERE } });
  for (let failures = 2; failures <= 5; failures++) {
    expect((await findSchedule(person, id))!.enabled).toBe(true);
    expect(await notified()).toEqual([]);
    expect(await run()).toMatchObject({ ran: 1, results: [{ status: "error", error: "Workspace not found: ws_none" }] });
  }
  const paused = (await findSchedule(person, id))!;
  expect(paused).toMatchObject({ enabled: false, state: { nextRunAtMs: null, lastStatus: "error", runCount: 5 } });
  expect(paused.state.pausedBecause).toMatch(/^It failed 5 times in a row/);
  const warning = {
    title: "Schedule paused: Broken",
    level: "warning",
    source: expect.objectContaining({ kind: "kernel", topic: "schedules" }),
  };
  expect(await notified()).toEqual([warning]);
  const enabled = (await person.call("sched.update", { id, patch: { enabled: true } })).schedule;
  expect(enabled.state).toMatchObject({ pausedBecause: null, nextRunAtMs: expect.any(Number) });
  expect(await notified()).toEqual([]);
  // It counts from the beginning, and of failures the last one is notified.
  await person.call("sched.update", { id, patch: { notify: "failures" } });
  await run();
  await run();
  expect(await notified()).toMatchObject([{ title: "Schedule failed: Broken", level: "error" }]);
  expect((await findSchedule(person, id))!.enabled).toBe(true);
  await person.call("sched.remove", { id });
  expect(await notified()).toEqual([]);
});

stages("sched.run:stopped", async ({ model, somebody }) => {
  const person = await somebody();
  model.holds("Do it.", says("Never said."));
  const { id } = await addSchedule(person);
  await person.call("sched.run", { id, mode: "force" });
  const { pid } = (await listRuns(person, id))[0]!;
  await expect.poll(() => model.asked.length).toBe(1);
  await person.call("proc.abort", { pid: pid! });
  expect(await waitForRun(person, id)).toMatchObject({ status: "error", error: "It was stopped", summary: null });
  expect(await findSchedule(person, id)).toMatchObject({
    enabled: true,
    state: { lastStatus: "error", lastError: "It was stopped", runningAtMs: null },
  });
  expect((await person.call("notification.list", {})).notifications).toEqual([]);
});

stages("sched.runs:refused", async ({ model, ann }) => {
  const target = { kind: "process.spawn" as const, profile: "cron", prompt: "Remove it." };
  const { id } = await addSchedule(ann, { target });
  model.on("Remove it.", wants(["Delete", { target: "gsv", path: "~/x" }], ["Read", { target: "gsv", path: "~" }]), says("I could not."));
  await runNow(ann, id);
  const run = (await listRuns(ann, id))[0]!;
  expect(run).toMatchObject({ status: "ok", refusedCalls: 1 });
  const { conversation } = await ann.call("proc.conversation.get", { pid: run.pid! });
  expect(conversation).toMatchObject({ startedBy: { kind: "schedule", id } });
});

stages("sched.runs:pages", async ({ model, ann }) => {
  const { id } = await addSchedule(ann);
  const other = await addSchedule(ann);
  for (const word of ["One.", "Two.", "Three."]) {
    model.on("Do it.", says(word));
    await runNow(ann, id);
  }
  const { runs, hasMore } = await ann.call("sched.runs", { id });
  expect(hasMore).toBe(false);
  expect(runs.map(({ summary }) => summary)).toEqual(["Three.", "Two.", "One."]);
  for (const run of runs) {
    expect(run).toMatchObject({ scheduleId: id, dueAtMs: null, status: "ok", error: null, pid: expect.stringMatching(UUID), missed: 0 });
    expect(run.finishedAtMs).toBeGreaterThanOrEqual(run.startedAtMs);
  }
  const first = await ann.call("sched.runs", { id, limit: 2 });
  expect(first).toEqual({ runs: runs.slice(0, 2), hasMore: true });
  const before = first.runs[1]!.runId;
  expect(await ann.call("sched.runs", { id, limit: 2, before })).toEqual({ runs: runs.slice(2), hasMore: false });
  for (const [one, runId] of [
    [id, ABSENT],
    [other.id, before],
  ] as const)
    await expectRefusal(ann.call("sched.runs", { id: one, before: runId }), 404, `Run not found: ${runId}`);
  for (const limit of [0, 201]) await expectRefusal(ann.call("sched.runs", { id, limit }), 400, /^limit /);
});
