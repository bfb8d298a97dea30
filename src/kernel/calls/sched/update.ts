// Changes a schedule.

import { z } from "zod";
import {
  CatchUp,
  ScheduleExpression,
  ScheduleName,
  ScheduleNotify,
  ScheduleRecord,
  ScheduleTarget,
} from "../../../protocol/schedule-records.ts";
import { changeSchedule } from "../../schedules/changes.ts";
import { makeScheduleRecord } from "../../schedules/record.ts";
import { syscall } from "../define.ts";
import { SCHEDULE } from "../../schedules/example.ts";

export default syscall({
  name: "sched.update",
  doc: "Change a schedule; what the patch does not name stays as it is. Its next run is computed again if the expression or enabled is in the patch. Enabling one that was paused forgets its failures.",
  runs: "kernel",
  does: "write",
  changes: "schedules",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    id: z.string().min(1).max(128),
    patch: z.object({
      name: ScheduleName.optional(),
      description: z.string().trim().max(2_000).nullable().optional(),
      enabled: z.boolean().optional(),
      expression: ScheduleExpression.optional(),
      target: ScheduleTarget.optional(),
      catchUp: CatchUp.optional(),
      notify: ScheduleNotify.optional(),
    }),
  }),
  result: z.object({ schedule: ScheduleRecord }),
  fails: {
    400: "the expression is not understood or never runs, or its time is in the past",
    403: "a process schedules children of another process",
    404: "there is no such schedule of this user, or the process of the target does not exist",
    413: "the target is too large",
  },
  example: {
    args: { id: SCHEDULE.id, patch: { enabled: false } },
    result: { schedule: { ...SCHEDULE, enabled: false, state: { ...SCHEDULE.state, nextRunAtMs: null } } },
  },
  run(nouns, caller, { id, patch }) {
    return { schedule: makeScheduleRecord(nouns, changeSchedule(nouns, caller, id, patch)) };
  },
});
