// sched.add and sched.preview: when schedules run.

import { expect } from "vitest";
import { type NewSchedule, HOUR_MS, DAY_MS, YEARLY, addSchedule, findSchedule } from "../schedules.ts";
import { expectRefusal, verifies } from "../verifies.ts";

verifies("sched.add:cron", async ({ alice }) => {
  const client = await alice();
  const cron = (expr: string, timezone = "UTC") => addSchedule(client, { enabled: false, expression: { kind: "cron", expr, timezone } });
  for (const expr of ["* * * * *", "*/5 0-6,22-23 1,15 * 1-5", "0 12 29 2 *", "0 0 1 1 7", "5/10 * * * *", "0 9 * * MON-FRI", "@daily"])
    await cron(expr);
  for (const [expr, message] of [
    ["* * * *", /five fields/],
    ["0 * * * * *", /five fields/],
    ["60 * * * *", /minute "60"/],
    ["* 24 * * *", /hour "24"/],
    ["* * 0 * *", /day of month "0"/],
    ["* * * 13 *", /month "13"/],
    ["* * * * 8", /weekday "8"/],
    ["5-1 * * * *", /minute "5-1"/],
    ["*/0 * * * *", /minute "\*\/0"/],
    ["x * * * *", /minute "x"/],
    ["* * L * *", /day of month "L"/],
    ["@reboot", /@daily/],
  ] as const)
    await expectRefusal(cron(expr), 400, message);
  // No calendar has these days.
  for (const expr of ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *"]) await expectRefusal(cron(expr), 400, /^The cron expression never runs: /);
  for (const timezone of ["Mars/Olympus", "CET/", "Europe/Berlin; x"])
    await expectRefusal(cron("* * * * *", timezone), 400, /^timezone must be a valid IANA timezone/);
  for (const timezone of [undefined, ""]) {
    const expression = { kind: "cron", expr: "* * * * *", timezone } as NewSchedule["expression"];
    await expectRefusal(addSchedule(client, { expression }), 400, /^expression\.timezone is required/);
  }
});

verifies("sched.add:next", async ({ alice }) => {
  const client = await alice();
  /** The next run, and the time of the gateway at which it was computed. */
  const next = async (expression: NewSchedule["expression"], enabled = true) => {
    const { createdAtMs, state } = await addSchedule(client, { expression, enabled });
    return { at: state.nextRunAtMs, now: createdAtMs };
  };
  const atMs = Date.now() + DAY_MS;
  expect((await next({ kind: "at", atMs })).at).toBe(atMs);
  const after = await next({ kind: "after", afterMs: HOUR_MS });
  expect(after.at).toBe(after.now + HOUR_MS);
  const every = await next({ kind: "every", everyMs: HOUR_MS });
  expect(every.at).toBe(every.now + HOUR_MS);
  // An anchor to come is the first run itself; of one that has passed, the first multiple after now.
  expect((await next({ kind: "every", everyMs: HOUR_MS, anchorMs: atMs })).at).toBe(atMs);
  const past = await next({ kind: "every", everyMs: HOUR_MS, anchorMs: 1_000 });
  expect(past.at! % HOUR_MS).toBe(1_000);
  expect(past.at! - past.now).toBeGreaterThan(0);
  expect(past.at! - past.now).toBeLessThanOrEqual(HOUR_MS);
  // In UTC and in a zone that is five and a half hours ahead all year.
  for (const [timezone, hour] of [
    ["UTC", 9],
    ["Asia/Kolkata", 3.5],
  ] as const) {
    const { at, now } = await next({ kind: "cron", expr: "0 9 * * *", timezone });
    expect(at! % DAY_MS).toBe(hour * HOUR_MS);
    expect(at! - now).toBeGreaterThan(0);
    expect(at! - now).toBeLessThanOrEqual(DAY_MS);
  }
  // With both kinds of days either matches: the 13th, or a Friday.
  const { at } = await next({ kind: "cron", expr: "0 0 13 * 5", timezone: "UTC" });
  const day = new Date(at!);
  expect(day.getUTCDate() === 13 || day.getUTCDay() === 5).toBe(true);
  for (const expression of [{ kind: "at" as const, atMs }, { kind: "every" as const, everyMs: 1_000 }, YEARLY])
    expect((await next(expression, false)).at).toBeNull();
});

verifies("sched.add:past", async ({ alice }) => {
  const client = await alice();
  const past = { kind: "at" as const, atMs: Date.now() - 60_000 };
  await expectRefusal(addSchedule(client, { expression: past }), 400, /^atMs is in the past/);
  await expectRefusal(addSchedule(client, { expression: past, enabled: false }), 400, /^atMs is in the past/);
  const { id } = await addSchedule(client);
  await expectRefusal(client.call("sched.update", { id, patch: { expression: past } }), 400, /^atMs is in the past/);
  expect(await findSchedule(client, id)).toMatchObject({ expression: YEARLY, enabled: true });
});

verifies("sched.preview:says", async ({ alice }) => {
  const client = await alice();
  const { count: before } = await client.call("sched.list", { includeDisabled: true });
  const weekdays = await client.call("sched.preview", { expression: { kind: "cron", expr: "0 8 * * 1-5", timezone: "Asia/Tokyo" } });
  expect(weekdays).toMatchObject({ says: "every weekday at 08:00 (Asia/Tokyo)", timezone: "Asia/Tokyo" });
  expect(weekdays.nextRunsMs).toHaveLength(3);
  for (const at of weekdays.nextRunsMs) expect(at % DAY_MS).toBe(23 * HOUR_MS);
  const atMs = Date.now() + DAY_MS;
  expect((await client.call("sched.preview", { expression: { kind: "at", atMs }, count: 20 })).nextRunsMs).toEqual([atMs]);
  const { nextRunsMs } = await client.call("sched.preview", { expression: { kind: "every", everyMs: 90_000 }, count: 2 });
  expect(nextRunsMs[1]! - nextRunsMs[0]!).toBe(90_000);
  await expectRefusal(client.call("sched.preview", { expression: { kind: "at", atMs: 1 } }), 400, /in the past/);
  await expectRefusal(client.call("sched.preview", {}), 400, "Give one of id, expression and words");
  await expectRefusal(client.call("sched.preview", { expression: YEARLY, words: "daily" }), 400, "Give one of id, expression and words");
  for (const count of [0, 21]) await expectRefusal(client.call("sched.preview", { expression: YEARLY, count }), 400, /^count /);
  expect((await client.call("sched.list", { includeDisabled: true })).count).toBe(before);
});

verifies("sched.preview:schedule", async ({ alice }) => {
  const client = await alice();
  const preview = (id: string, more: object = {}) => client.call("sched.preview", { id, ...more });
  const nextOf = ({ state }: { state: { nextRunAtMs: number | null } }) => state.nextRunAtMs!;
  const every = await addSchedule(client, { expression: { kind: "every", everyMs: HOUR_MS } });
  const next = nextOf(every);
  expect(await preview(every.id, { timezone: "Asia/Tokyo" })).toEqual({
    expression: every.expression,
    says: "every hour",
    timezone: "Asia/Tokyo",
    nextRunsMs: [next, next + HOUR_MS, next + 2 * HOUR_MS],
  });
  const after = await addSchedule(client, { expression: { kind: "after", afterMs: DAY_MS } });
  expect((await preview(after.id)).nextRunsMs).toEqual([nextOf(after)]);
  const cron = await addSchedule(client, { expression: { kind: "cron", expr: "0 9 * * *", timezone: "Asia/Tokyo" } });
  expect(await preview(cron.id, { count: 1, timezone: "Europe/Berlin" })).toMatchObject({
    says: "every day at 09:00 (Asia/Tokyo)",
    timezone: "Asia/Tokyo",
    nextRunsMs: [nextOf(cron)],
  });
  await client.call("sched.update", { id: every.id, patch: { enabled: false } });
  expect(await preview(every.id)).toMatchObject({ says: "every hour", nextRunsMs: [] });
  for (const more of [{ words: "daily" }, { expression: YEARLY }])
    await expectRefusal(preview(every.id, more), 400, "Give one of id, expression and words");
});

verifies("sched.preview:words", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  const timezone = "Europe/Berlin";
  expect(await client.call("sched.preview", { words: "every weekday at 9:30", timezone, count: 1 })).toMatchObject({
    expression: { kind: "cron", expr: "30 9 * * 1-5", timezone },
    says: "every weekday at 09:30 (Europe/Berlin)",
    timezone,
  });
  expect(await client.call("sched.preview", { words: "in 20 minutes" })).toMatchObject({
    expression: { kind: "after", afterMs: 20 * 60_000 },
  });
  expect(await client.call("sched.preview", { words: "0 9 * * 1", timezone })).toMatchObject({ expression: { kind: "cron", timezone } });
  const sentence = "remind me to call mum every day at 10";
  expect(await client.call("sched.preview", { words: sentence, isSentence: true, timezone })).toMatchObject({
    expression: { kind: "cron", expr: "0 10 * * *", timezone },
    rest: expect.stringMatching(/call mum$/),
  });
  await expectRefusal(client.call("sched.preview", { words: sentence }), 400, /is not understood as a time/);
  await expectRefusal(client.call("sched.preview", { words: "every day at 9", timezone: "Mars/Olympus" }), 400, /IANA timezone/);
  // Without a zone: that of the gateway, which root sets; else UTC.
  const zone = async () => (await client.call("sched.preview", { words: "every day at 9" })).timezone;
  const { entries } = await admin.call("sys.config.get", { key: "config/server/timezone" });
  await admin.call("sys.config.set", { key: "config/server/timezone", value: "Asia/Tokyo" });
  expect(await zone()).toBe("Asia/Tokyo");
  await admin.call("sys.config.set", { key: "config/server/timezone", value: "" });
  expect(await zone()).toBe("UTC");
  await admin.call("sys.config.set", { key: "config/server/timezone", value: entries[0]?.value ?? "" });
});

verifies("sched.preview:dst", async ({ alice }) => {
  const client = await alice();
  const runs = async (expr: string) => {
    const expression = { kind: "cron" as const, expr, timezone: "Europe/Berlin" };
    return (await client.call("sched.preview", { expression, count: 20 })).nextRunsMs.map((at) => new Date(at));
  };
  const time = (at: Date) => at.toISOString().slice(11, 16);
  // On the last Sunday of March 02:30 does not exist: it runs at 03:00, which is 01:00 UTC. In years to come the law may change.
  const inMarch = await runs("30 2 * 3 0");
  expect(inMarch).toHaveLength(20);
  for (const at of inMarch) expect([at, time(at)]).toEqual([at, at.getUTCDate() >= 25 ? "01:00" : "01:30"]);
  // On the last Sunday of October 02:30 exists twice: it runs the first time only.
  const inOctober = await runs("30 2 * 10 0");
  for (const at of inOctober) expect([at, time(at)]).toEqual([at, "00:30"]);
  expect(new Set(inOctober.map((at) => at.toISOString().slice(0, 10))).size).toBe(20);
  // What has a * in its minute follows real time, so that hour has four half hours once a year.
  const halves = await runs("*/30 2 25-31 10 *");
  const perDay = Map.groupBy(halves, (at) => at.toISOString().slice(0, 10));
  expect([...perDay.values()].map(({ length }) => length)).toContain(4);
});
