// Removes a schedule.

import { z } from "zod";
import { removeSchedule } from "../../schedules/changes.ts";
import { syscall } from "../define.ts";
import { SCHEDULE } from "../../schedules/example.ts";

export default syscall({
  name: "sched.remove",
  doc: "Remove a schedule and its history. A run that is at work goes on.",
  runs: "kernel",
  does: "write",
  changes: "schedules",
  from: ["user"],
  grant: ["users"],
  args: z.object({ id: z.string().min(1).max(128) }),
  result: z.object({ removed: z.boolean() }),
  fails: {},
  example: { args: { id: SCHEDULE.id }, result: { removed: true } },
  run: (nouns, caller, { id }) => ({ removed: removeSchedule(nouns, caller, id) }),
});
