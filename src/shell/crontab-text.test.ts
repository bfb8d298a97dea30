// The text of a crontab means the same after it was printed and read again.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ScheduleRecord, ScheduleTarget } from "../protocol/schedule-records.ts";
import { entryText, formatCrontab, parseCrontab } from "./crontab-text.ts";

const ID = "2a267bd2-2f19-4358-821f-a865a1fac86c";

function makeSchedule(target: ScheduleTarget, { name = "mail", enabled = true, timezone = "Europe/Berlin" } = {}): ScheduleRecord {
  const who = { kind: "user" as const, uid: 1000, username: "alice" };
  return {
    id: ID,
    ownerUid: 1000,
    creator: who,
    runAs: who,
    name,
    enabled,
    expression: { kind: "cron", expr: "0 9 * * 1-5", timezone },
    target,
    overlapPolicy: "skip",
    catchUp: "once",
    notify: "all",
    says: "",
    createdAtMs: 1,
    updatedAtMs: 1,
    state: {
      nextRunAtMs: null,
      runningAtMs: null,
      lastRunAtMs: null,
      lastStatus: null,
      lastError: null,
      lastDurationMs: null,
      runCount: 0,
      pausedBecause: null,
    },
  };
}

test("what is printed is read back as the same text, process, zone and state, whatever characters it has", () => {
  const text = fc
    .string({ unit: fc.constantFrom("a", " ", "%", "\\", "@", "#", "\n", "é", "*", ":", "'"), minLength: 1, maxLength: 20 })
    .map((words) => words.trim())
    .filter((words) => words !== "");
  const pid = fc.constantFrom(null, "init:1000");
  fc.assert(
    fc.property(text, pid, fc.boolean(), (said, to, enabled) => {
      const target: ScheduleTarget =
        to === null ? { kind: "process.spawn", prompt: said } : { kind: "process.event", pid: to, message: said };
      const printed = formatCrontab([makeSchedule(target, { enabled })], undefined);
      const [entry, ...others] = parseCrontab(printed, "UTC");
      expect(others).toEqual([]);
      expect(entry).toMatchObject({ id: ID, name: "mail", enabled, pid: to, expr: "0 9 * * 1-5", timezone: "Europe/Berlin" });
      expect(entry!.text).toBe(entryText(target));
    }),
  );
});

test("each zone counts for the lines below it", () => {
  const text = "0 1 * * * a\nCRON_TZ=Asia/Tokyo\n@daily b\nTZ='UTC'\n*/5 0-3 1,2 * mon c d\n";
  const entries = parseCrontab(text, "Europe/Rome").map(({ expr, timezone, text: said }) => [expr, timezone, said]);
  expect(entries).toEqual([
    ["0 1 * * *", "Europe/Rome", "a"],
    ["@daily", "Asia/Tokyo", "b"],
    ["*/5 0-3 1,2 * mon", "UTC", "c d"],
  ]);
});

test("a comment is no schedule, and the id above a line counts for that line only", () => {
  const text = `# notes\n# ${ID} mail\n\n0 1 * * * a\n0 2 * * * b\n#0 3 * * * c\n#: 0 4 * * * d\n`;
  const entries = parseCrontab(text, undefined).map(({ id, name, enabled, text: said }) => [said, id, name, enabled]);
  expect(entries).toEqual([
    ["a", ID, "mail", true],
    ["b", null, null, true],
    ["d", null, null, false],
  ]);
});

test("a line without five fields is an error that names it", () => {
  expect(() => parseCrontab("0 1 * * * a\n\nnonsense\n", undefined)).toThrow(/^line 3: write minute hour day month weekday/);
});
