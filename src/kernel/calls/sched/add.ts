// Adds a schedule.

import { z } from "zod";
import {
  CatchUp,
  ScheduleExpression,
  ScheduleName,
  ScheduleNotify,
  ScheduleRecord,
  ScheduleTarget,
} from "../../../protocol/schedule-records.ts";
import { addSchedule } from "../../schedules/changes.ts";
import { makeScheduleRecord } from "../../schedules/record.ts";
import { syscall } from "../define.ts";
import { SCHEDULE } from "../../schedules/example.ts";

export default syscall({
  name: "sched.add",
  doc: "Add a schedule: once at a time (at) or after a delay (after), at an interval (every), or by a cron expression of five fields in a time zone (cron). It starts a process with a prompt, with the profile cron unless another is named, or sends a message to a process. It runs with the rights that its owner has at that time. catchUp says what happens after the gateway was not running: once (the default) makes up for the missed times with one run, skip waits for the next. notify says which runs its owner is notified of. sched.preview shows what an expression means.",
  runs: "kernel",
  does: "write",
  changes: "schedules",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    name: ScheduleName,
    description: z.string().trim().max(2_000).optional(),
    enabled: z.boolean().default(true),
    expression: ScheduleExpression,
    target: ScheduleTarget,
    catchUp: CatchUp.default("once"),
    notify: ScheduleNotify.optional(),
  }),
  result: z.object({ schedule: ScheduleRecord }),
  fails: {
    400: "the expression is not understood or never runs, its time is in the past, or there is no such profile",
    403: "a process schedules children of another process",
    404: "the process of the target does not exist",
    413: "the target is too large",
    429: "too many schedules",
  },
  example: {
    args: {
      name: "Morning mail",
      expression: { kind: "cron", expr: "0 8 * * 1-5", timezone: "Europe/Berlin" },
      target: { kind: "process.spawn", prompt: "Summarise the mail of the night." },
    },
    result: { schedule: SCHEDULE },
  },
  run(nouns, caller, args) {
    return { schedule: makeScheduleRecord(nouns, addSchedule(nouns, caller, args)) };
  },
});
