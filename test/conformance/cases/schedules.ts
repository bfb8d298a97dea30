// sched.*: what schedules are, who has which, and how they are changed. When they run is schedule-times.ts, that they run schedule-runs.ts.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import type { Arguments } from "../../../src/client/connection.ts";
import { says, wants } from "../../support/models/scripted.ts";
import {
  type Schedule,
  ABSENT,
  UUID,
  HOUR_MS,
  DAY_MS,
  YEARLY,
  SPAWN,
  NOWHERE,
  addSchedule,
  findSchedule,
  listRuns,
  waitForRun,
} from "../schedules.ts";
import { type Stage, stages, type Watched } from "../stage.ts";
import { expectRefusal, refusal, verifies } from "../verifies.ts";

/** How often a client was told that schedules have changed. */
function countChanges(client: Client): () => number {
  let count = 0;
  client.onSignal(({ signal, payload }) => {
    if (signal === "sys.changed" && payload.changes.includes("schedules")) count++;
  });
  return () => count;
}

/** Has an agent run a command, which a person approves. */
async function runApproved(agent: Watched, model: Stage["model"], input: string) {
  model.on("Run it.", wants(["Shell", { target: "gsv", input }]), says("Tried."));
  const runId = await agent.say("Run it.");
  const question = await agent.asked();
  expect(question).toMatchObject({ syscall: "shell.exec", args: { input } });
  await agent.answer(question.requestId, "approve");
  await agent.finished(runId);
  return agent.result();
}

verifies("sched.add:record", async ({ alice }) => {
  const client = await alice();
  const { uid, username } = client.session.identity.process;
  const from = Date.now();
  const schedule = await addSchedule(client, {
    name: "  Morning mail  ",
    expression: { ...YEARLY, expr: "30 9 * * 1-5", timezone: "Europe/Berlin" },
  });
  const me = { kind: "user", uid, username };
  const { id, createdAtMs, state } = schedule;
  expect(schedule).toEqual({
    id: expect.stringMatching(UUID),
    ownerUid: uid,
    creator: me,
    runAs: me,
    name: "Morning mail",
    enabled: true,
    expression: { kind: "cron", expr: "30 9 * * 1-5", timezone: "Europe/Berlin" },
    target: { kind: "process.spawn", profile: "cron", prompt: "Do it." },
    overlapPolicy: "skip",
    catchUp: "once",
    notify: "all",
    says: "every weekday at 09:30 (Europe/Berlin)",
    createdAtMs: expect.any(Number),
    updatedAtMs: createdAtMs,
    state: {
      nextRunAtMs: expect.any(Number),
      runningAtMs: null,
      lastRunAtMs: null,
      lastStatus: null,
      lastError: null,
      lastDurationMs: null,
      runCount: 0,
      pausedBecause: null,
    },
  });
  expect(createdAtMs).toBeGreaterThanOrEqual(from);
  expect(state.nextRunAtMs).toBeGreaterThan(from);
  expect(await findSchedule(client, id)).toEqual(schedule);
  // What tells a process need not notify: its answer is in a conversation.
  const target = { kind: "process.event" as const, pid: `init:${uid}`, conversationId: "news", message: "  Look.  ", data: { a: [1] } };
  const event = await addSchedule(client, { target, description: " x ", catchUp: "skip" });
  expect(event).toMatchObject({ target: { ...target, message: "Look." }, description: "x", catchUp: "skip", notify: "failures" });
  expect(await addSchedule(client, { target: { ...SPAWN, profile: "task", label: "L" }, notify: "none" })).toMatchObject({
    target: { ...SPAWN, profile: "task", label: "L" },
    notify: "none",
  });
});

verifies("sched.add:validates", async ({ alice }) => {
  const client = await alice();
  const good = { name: "x", expression: YEARLY, target: SPAWN };
  const refused = (args: object, message: string | RegExp) => expectRefusal(client.call("sched.add", { ...good, ...args }), 400, message);
  for (const name of [undefined, "", "  "]) await refused({ name }, "schedule name is required");
  await refused({ name: "x".repeat(201) }, /^name must be at most 200/);
  for (const expression of [undefined, "daily", 7]) await refused({ expression }, /^expression (?:is required|must be an object)/);
  await refused({ expression: { kind: "never" } }, /^expression\.kind /);
  for (const [field, expression] of [
    ["atMs", { kind: "at" }],
    ["afterMs", { kind: "after" }],
    ["everyMs", { kind: "every" }],
    ["anchorMs", { kind: "every", everyMs: 1_000 }],
  ] as const)
    for (const value of [0, -1, 1.5, "1", null])
      await refused({ expression: { ...expression, [field]: value } }, `expression.${field} must be a positive integer`);
  await refused({ expression: { kind: "every", everyMs: 999 } }, "schedule everyMs must be at least 1000");
  await refused({ expression: { kind: "at", atMs: 253_402_300_800_000 } }, /^expression\.atMs /);
  for (const target of [undefined, "init"]) await refused({ target }, /^target /);
  await refused({ target: { kind: "command" } }, /^target\.kind /);
  for (const prompt of [undefined, " "]) await refused({ target: { ...SPAWN, prompt } }, /^target\.prompt is required/);
  const event = { kind: "process.event", pid: `init:${client.session.identity.process.uid}`, message: "x" };
  for (const message of [undefined, " "]) await refused({ target: { ...event, message } }, /^target\.message is required/);
  for (const pid of [undefined, " "]) await refused({ target: { ...event, pid } }, /^target\.pid is required/);
  await refused({ target: { ...event, data: [1] } }, /^target\.data /);
  await refused({ target: { ...SPAWN, profile: "boss" } }, /Invalid process profile: boss/);
  await refused({ target: { ...SPAWN, mounts: [{}] } }, /mounts/);
  const { id } = await addSchedule(client);
  await expectRefusal(client.call("sched.update", { id, patch: { name: " " } }), 400, "schedule name is required");
  await expectRefusal(
    client.call("sched.update", { id, patch: { expression: { kind: "every", everyMs: 10 } } }),
    400,
    "schedule everyMs must be at least 1000",
  );
});

verifies("sched.add:targets", async ({ alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const { pid } = await client.call("proc.spawn", { profile: "task" });
  const { id } = await addSchedule(other);
  for (const target of [
    (one: string) => ({ kind: "process.event" as const, pid: one, message: "x" }),
    (one: string) => ({ ...SPAWN, parentPid: one }),
  ]) {
    expect((await addSchedule(client, { target: target(pid) })).target).toMatchObject(target(pid));
    expect((await addSchedule(admin, { target: target(pid) })).ownerUid).toBe(0);
    const absent = await refusal(addSchedule(other, { target: target("nobody") }));
    expect(absent).toMatchObject({ code: 404, message: "Process not found: nobody" });
    const foreign = await refusal(addSchedule(other, { target: target(pid) }));
    expect({ ...foreign, message: foreign.message.replace(pid, "nobody") }).toEqual(absent);
    const patched = await refusal(other.call("sched.update", { id, patch: { target: target(pid) } }));
    expect(patched).toEqual(foreign);
  }
  for (const { id } of (await admin.call("sched.list", { ownerUid: 0 })).schedules) await admin.call("sched.remove", { id });
});

stages("sched.add:agent", async ({ spawn, model, ann, uid }) => {
  const agent = await spawn();
  const other = await spawn();
  const decision = async (profile: string, call: string) =>
    (await ann.call("proc.approval.preview", { profile, call, args: { name: "x", expression: YEARLY, target: SPAWN } })).action;
  for (const call of ["sched.add", "sched.update", "sched.run", "sched.remove"]) {
    expect([call, await decision("task", call)]).toEqual([call, "ask"]);
    expect([call, await decision("cron", call)]).toEqual([call, "deny"]);
  }
  for (const call of ["sched.list", "sched.runs", "sched.preview"]) expect([call, await decision("cron", call)]).toEqual([call, "auto"]);
  const json = (args: object) => `sched add --json '${JSON.stringify({ name: "Mine", expression: YEARLY, ...args })}'`;
  // Even with approval it names no other parent, which may be allowed more.
  const input = `${json({ target: SPAWN })}; ${json({ target: { ...SPAWN, parentPid: other.pid } })}`;
  const { output } = await runApproved(agent, model, input);
  expect(output).toContain("only children of its own");
  const byAgent = (await ann.call("sched.list", {})).schedules.filter(({ creator }) => creator.pid === agent.pid);
  expect(byAgent).toMatchObject([
    {
      ownerUid: uid,
      creator: { kind: "process", uid, username: "ann", pid: agent.pid },
      runAs: { kind: "user", uid, username: "ann" },
      target: { ...SPAWN, profile: "cron", parentPid: agent.pid },
    },
  ]);
  const [made] = byAgent as [Schedule];
  const patch = { target: { ...SPAWN, parentPid: other.pid } };
  expect((await ann.call("sched.update", { id: made.id, patch })).schedule.target).toMatchObject(patch.target);
  await ann.call("sched.remove", { id: made.id });
});

stages("sched.list:order", async ({ somebody }) => {
  const person = await somebody();
  const at = (days: number) => ({ kind: "at" as const, atMs: Date.now() + days * DAY_MS });
  const [third, first, second] = [
    await addSchedule(person, { expression: at(3) }),
    await addSchedule(person, { expression: at(1) }),
    await addSchedule(person, { expression: at(2) }),
  ];
  const disabled = [
    await addSchedule(person, { enabled: false }),
    await addSchedule(person, { enabled: false }),
    await addSchedule(person),
  ];
  for (const { id } of disabled.toReversed()) await person.call("sched.update", { id, patch: { enabled: false } });
  const { schedules, count } = await person.call("sched.list", {});
  expect(schedules).toEqual([first, second, third]);
  expect(count).toBe(3);
  const all = await person.call("sched.list", { includeDisabled: true });
  expect(all.count).toBe(6);
  const rest = all.schedules.slice(3);
  expect(all.schedules.slice(0, 3)).toEqual(schedules);
  expect(rest.map(({ id }) => id).toSorted()).toEqual(disabled.map(({ id }) => id).toSorted());
  expect(rest.every(({ enabled, state }) => !enabled && state.nextRunAtMs === null)).toBe(true);
  expect(rest.map(({ updatedAtMs }) => updatedAtMs)).toEqual(rest.map(({ updatedAtMs }) => updatedAtMs).toSorted((a, b) => b - a));
});

stages("sched.list:pages", async ({ somebody }) => {
  const person = await somebody();
  await Promise.all(
    Array.from({ length: 501 }, (_, at) =>
      addSchedule(person, { name: String(at), enabled: false, expression: { kind: "every", everyMs: HOUR_MS } }),
    ),
  );
  const list = async (args: Arguments<"sched.list">) => {
    const { schedules, count } = await person.call("sched.list", { includeDisabled: true, ...args });
    expect(count).toBe(501);
    return schedules.map(({ id }) => id);
  };
  const all = await list({ limit: 1e9 });
  expect(all).toHaveLength(500);
  expect(await list({})).toEqual(all.slice(0, 100));
  for (const limit of [0, -5, 1.9]) expect(await list({ limit })).toEqual(all.slice(0, 1));
  expect(await list({ limit: 3, offset: 2 })).toEqual(all.slice(2, 5));
  expect(await list({ offset: 500 })).toHaveLength(1);
  expect(await list({ offset: 600 })).toEqual([]);
  await expectRefusal(person.call("sched.list", { offset: -1 }), 400, /^offset /);
});

verifies("sched.list:whose", async ({ alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const [mine, theirs] = [await addSchedule(client), await addSchedule(other)];
  const ids = async (who: Client, args: Arguments<"sched.list"> = {}) =>
    (await who.call("sched.list", { limit: 500, ...args })).schedules.map(({ id }) => id);
  const { uid } = client.session.identity.process;
  const [mines, alls] = [await ids(client), await ids(admin)];
  expect(mines).toContain(mine.id);
  expect(mines).not.toContain(theirs.id);
  expect(await ids(client, { ownerUid: uid })).toEqual(mines);
  expect(alls).toEqual(expect.arrayContaining([mine.id, theirs.id]));
  expect(await ids(admin, { ownerUid: uid })).toEqual(mines);
  expect(await ids(admin, { ownerUid: 99_999 })).toEqual([]);
  for (const ownerUid of [uid, 0, 99_999])
    await expectRefusal(other.call("sched.list", { ownerUid }), 403, "Permission denied: cannot list schedules of another user");
});

stages("sched.upcoming:next", async ({ somebody, ann }) => {
  const person = await somebody();
  const now = Date.now();
  const inHours = (hours: number) => ({ kind: "at" as const, atMs: now + hours * HOUR_MS });
  const soon = await addSchedule(person, { name: "Soon", expression: inHours(2) });
  const later = await addSchedule(person, { name: "Later", expression: inHours(31) });
  const every = await addSchedule(person, { name: "Every", expression: { kind: "every", everyMs: 10 * HOUR_MS } });
  await addSchedule(person, { enabled: false, expression: inHours(1) });
  await addSchedule(ann, { enabled: true, expression: inHours(1) });
  const run = ({ id, name }: Schedule, atMs: number) => ({ scheduleId: id, name, atMs });
  const first = every.state.nextRunAtMs!;
  const day = [run(soon, now + 2 * HOUR_MS), run(every, first), run(every, first + 10 * HOUR_MS)];
  expect(await person.call("sched.upcoming", {})).toEqual({ runs: day });
  const rest = [run(every, first + 20 * HOUR_MS), run(later, now + 31 * HOUR_MS), run(every, first + 30 * HOUR_MS)];
  expect(await person.call("sched.upcoming", { hours: 48 })).toEqual({ runs: [...day, ...rest] });
  expect(await person.call("sched.upcoming", { hours: 48, limit: 2 })).toEqual({ runs: day.slice(0, 2) });
  for (const hours of [0, 745]) await expectRefusal(person.call("sched.upcoming", { hours }), 400, /^hours /);
});

verifies("sched.update:patch", async ({ alice }) => {
  const client = await alice();
  const update = async (id: string, patch: Arguments<"sched.update">["patch"]) =>
    (await client.call("sched.update", { id, patch })).schedule;
  const first = await addSchedule(client, { expression: { kind: "after", afterMs: DAY_MS }, description: "old" });
  const renamed = await update(first.id, {
    name: " New ",
    description: " new ",
    catchUp: "skip",
    notify: "none",
    target: { ...SPAWN, profile: "task" },
  });
  expect(renamed).toEqual({
    ...first,
    name: "New",
    description: "new",
    catchUp: "skip",
    notify: "none",
    target: { ...SPAWN, profile: "task" },
    updatedAtMs: expect.any(Number),
  });
  expect(renamed.updatedAtMs).toBeGreaterThanOrEqual(first.updatedAtMs);
  expect(await findSchedule(client, first.id)).toEqual(renamed);
  const { description: _, ...plain } = await update(first.id, { description: null });
  expect(_).toBeUndefined();
  expect(plain.state).toEqual(first.state);
  const disabled = await update(first.id, { enabled: false });
  expect(disabled).toMatchObject({ enabled: false, state: { nextRunAtMs: null } });
  // A delay counts from when it is enabled, an interval keeps its beat.
  const again = await update(first.id, { enabled: true });
  expect(again.state.nextRunAtMs).toBe(again.updatedAtMs + DAY_MS);
  const every = await addSchedule(client, { expression: { kind: "every", everyMs: HOUR_MS } });
  await update(every.id, { enabled: false });
  expect(await update(every.id, { enabled: true })).toMatchObject({ state: { nextRunAtMs: every.state.nextRunAtMs } });
  const moved = await update(every.id, { expression: { kind: "after", afterMs: HOUR_MS } });
  expect(moved.state.nextRunAtMs).toBe(moved.updatedAtMs + HOUR_MS);
  expect((await update(first.id, { enabled: false, expression: YEARLY })).state.nextRunAtMs).toBeNull();
  expect((await update(first.id, { enabled: true })).state.nextRunAtMs).toEqual(expect.any(Number));
  expect(await update(first.id, {})).toMatchObject({ name: "New", enabled: true, expression: YEARLY });
});

verifies("sched.update:foreign", async ({ alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const { id } = await addSchedule(client);
  const before = await findSchedule(client, id);
  for (const ask of [
    (one: string) => other.call("sched.update", { id: one, patch: { name: "theirs" } }),
    (one: string) => other.call("sched.run", { id: one }),
    (one: string) => other.call("sched.run", { id: one, mode: "force" }),
    (one: string) => other.call("sched.runs", { id: one }),
    (one: string) => other.call("sched.preview", { id: one }),
  ]) {
    const absent = await refusal(ask(ABSENT));
    expect(absent).toMatchObject({ code: 404, message: `Schedule not found: ${ABSENT}` });
    const foreign = await refusal(ask(id));
    expect({ ...foreign, message: foreign.message.replace(id, ABSENT) }).toEqual(absent);
  }
  for (const one of [id, ABSENT]) expect(await other.call("sched.remove", { id: one })).toEqual({ removed: false });
  expect(await findSchedule(client, id)).toEqual(before);
  const { schedule } = await admin.call("sched.update", { id, patch: { name: "Root's" } });
  expect(schedule).toMatchObject({ name: "Root's", ownerUid: before!.ownerUid, creator: before!.creator, runAs: before!.runAs });
  expect(await admin.call("sched.runs", { id })).toEqual({ runs: [], hasMore: false });
  expect(await admin.call("sched.run", { id })).toMatchObject({ ran: 0 });
  expect((await admin.call("sched.preview", { id })).nextRunsMs[0]).toBe(before!.state.nextRunAtMs);
  expect(await admin.call("sched.remove", { id })).toEqual({ removed: true });
});

stages("sched.update:announces", async ({ ann, again, root, model, world }) => {
  model.otherwise(says("Done."));
  const other = await world.bob();
  const counts = [ann, await again(), root].map(countChanges);
  const foreign = countChanges(other);
  let expected = 0;
  const isTold = async () => {
    expected++;
    for (const count of counts) await expect.poll(count).toBeGreaterThanOrEqual(expected);
  };
  const { id } = await addSchedule(ann);
  await isTold();
  await ann.call("sched.update", { id, patch: { name: "Renamed" } });
  await isTold();
  const before = counts.map((count) => count());
  await ann.call("sched.run", { id, mode: "force" });
  await waitForRun(ann, id);
  // Its start and its end.
  for (const [at, count] of counts.entries()) await expect.poll(count).toBeGreaterThanOrEqual(before[at]! + 2);
  expected = Math.max(...counts.map((count) => count()));
  await ann.call("sched.remove", { id });
  await isTold();
  await ann.call("sched.list", {});
  await other.call("sched.list", {});
  expect(foreign()).toBe(0);
});

stages("sched.remove:removed", async ({ model, ann }) => {
  const release = model.holds("Work.", says("Worked."));
  const { id } = await addSchedule(ann, { target: { ...SPAWN, prompt: "Work." } });
  await ann.call("sched.run", { id, mode: "force" });
  const { pid } = (await listRuns(ann, id))[0]!;
  await expect.poll(() => model.asked.length).toBe(1);
  expect(await ann.call("sched.remove", { id })).toEqual({ removed: true });
  expect(await findSchedule(ann, id)).toBeUndefined();
  await expectRefusal(ann.call("sched.runs", { id }), 404, `Schedule not found: ${id}`);
  expect(await ann.call("sched.remove", { id })).toEqual({ removed: false });
  release();
  await expect
    .poll(async () => (await ann.call("proc.history", { pid: pid! })).messages.at(-1))
    .toMatchObject({ role: "assistant", content: "Worked." });
});

stages("shell.exec:sched", async ({ model, somebody }) => {
  const person = await somebody();
  model.otherwise(says("Done."));
  const shell = (input: string) => person.call("shell.exec", { input });
  const linesOf = async (input: string) => (await shell(input)).output.trimEnd().split("\n");
  const init = `init:${person.session.identity.process.uid}`;
  const atMs = Date.now() + DAY_MS;
  const json = JSON.stringify({ name: "json", expression: YEARLY, target: SPAWN });
  expect(
    await shell(
      [
        "sched add --name cron --cron '0 9 * * 1' --timezone Europe/Berlin --profile task --label L --description D Read the mail.",
        "sched add --name every --every 2h --disabled --prompt Tidy.",
        "sched add --name after --after 20m Stretch.",
        `sched add --name at --at ${atMs} --pid ${init} --conversation news --data-json '{"a":1}' --message Look.`,
        `sched add --name date --at ${new Date(atMs).toISOString().slice(0, 10)} Celebrate.`,
        `sched add --json '${json}'`,
      ].join(" && "),
    ),
  ).toMatchObject({ status: "completed" });
  const { schedules } = await person.call("sched.list", { includeDisabled: true });
  const named = new Map(schedules.map((schedule) => [schedule.name, schedule]));
  expect(
    Object.fromEntries(schedules.map(({ name, expression, target, enabled }) => [name, { ...expression, target, enabled }])),
  ).toMatchObject({
    cron: {
      kind: "cron",
      expr: "0 9 * * 1",
      timezone: "Europe/Berlin",
      enabled: true,
      target: { kind: "process.spawn", profile: "task", label: "L", prompt: "Read the mail." },
    },
    every: { kind: "every", everyMs: 2 * HOUR_MS, enabled: false, target: { profile: "cron", prompt: "Tidy." } },
    after: { kind: "after", afterMs: 20 * 60_000, target: { prompt: "Stretch." } },
    at: { kind: "at", atMs, target: { kind: "process.event", pid: init, conversationId: "news", message: "Look.", data: { a: 1 } } },
    date: { kind: "at", target: { prompt: "Celebrate." } },
    json: { ...YEARLY, target: SPAWN },
  });
  expect(named.get("cron")).toMatchObject({ description: "D" });
  const lines = await linesOf("sched list");
  expect(lines[0]).toMatch(/^ID +ENABLED +NEXT +LAST +ERROR +NAME +TARGET\b/);
  expect(lines).toHaveLength(6);
  expect(lines.join("\n")).toContain("spawn:task");
  expect(lines.join("\n")).toContain(`event:${init}`);
  expect(await linesOf("sched list --all")).toHaveLength(7);
  const [cron, every, at] = ["cron", "every", "at"].map((name) => named.get(name)!.id) as [string, string, string];
  const shown = await shell("sched show after --json");
  const due = new Date(JSON.parse(shown.output).state.nextRunAtMs).toISOString().slice(11, 16);
  expect((await linesOf("TZ=UTC sched show after")).slice(-3)).toEqual([
    "When: once, after 20 minutes",
    "Next runs (UTC):",
    expect.stringMatching(new RegExp(` ${due}$`)),
  ]);
  // It has been added, whatever its next run is: there is none.
  expect(await linesOf(`TZ=UTC sched add --json '${JSON.stringify({ ...JSON.parse(json), name: "off", enabled: false })}'`)).toEqual([
    expect.stringMatching(/^Added \(disabled\) [0-9a-f-]{36}: off$/),
    "When: every year on 1 January at 00:00 (UTC)",
  ]);
  expect((await linesOf("sched show off")).at(-1)).toBe("When: every year on 1 January at 00:00 (UTC)");
  expect(await shell("sched remove off")).toMatchObject({ exitCode: 0 });
  expect(await shell(`sched enable ${every} && sched disable ${cron} && sched remove ${at}`)).toMatchObject({ status: "completed" });
  expect(await findSchedule(person, every)).toMatchObject({ enabled: true });
  expect(await findSchedule(person, cron)).toMatchObject({ enabled: false });
  expect(await findSchedule(person, at)).toBeUndefined();
  const forced = await shell(`sched run ${cron} --force`);
  expect(forced).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(forced.output)).toMatchObject({ ran: 1, results: [{ scheduleId: cron, status: "ok" }] });
  expect(JSON.parse((await shell(`sched run ${cron}`)).output)).toMatchObject({ ran: 0, results: [{ status: "skipped" }] });
  await person.call("sched.update", { id: every, patch: { target: NOWHERE } });
  const failed = await shell(`sched run ${every} --force`);
  expect(failed).toMatchObject({ exitCode: 1 });
  expect(JSON.parse(failed.output)).toMatchObject({ ran: 1, results: [{ status: "error" }] });
  expect((await shell("sched add")).output).toMatch(/^sched: say when and what: sched add /);
  expect(await shell("sched add --cron '0 25 * * *' Sing.")).toMatchObject({ exitCode: 1, output: expect.stringContaining('hour "25"') });
  expect(await shell("sched add --cron '0 x * * *' Sing.")).toMatchObject({ exitCode: 1, output: expect.stringContaining('hour "x"') });
  // What somebody edits is not lost if it is not accepted.
  const { output } = await shell('EDITOR="sed -i s/^0/x/" crontab -e');
  expect(output).toMatch(/minute "x".*; nothing was changed/);
  const [, path] = /What you wrote is still in (\S+):/.exec(output) ?? [];
  expect(await linesOf(`cat ${path}`)).toContain("x 0 1 1 * Do it.");
  // What only the gateway refuses says what was changed before, and nothing was removed.
  const { count } = await person.call("sched.list", { includeDisabled: true });
  await person.call("fs.write", { path: "table", content: `0 9 * * * first\n0 9 * * * ${"x".repeat(70_000)}\n` });
  const refused = (await shell("crontab table")).output;
  expect(refused).toMatch(/^crontab: line 2: The target is larger than \d+ characters; before that: added first\n$/);
  expect((await person.call("sched.list", { includeDisabled: true })).count).toBe(count + 1);
});
