// Lists the coming runs of all schedules.

import { z } from "zod";
import { SysError } from "../../../lib/sys-error.ts";
import { listNextRuns } from "../../../schedules/next-run.ts";
import type { ScheduleRow } from "../../nouns/schedules.ts";
import { syscall } from "../define.ts";
import { SCHEDULE } from "../../schedules/example.ts";

const HOUR_MS = 60 * 60 * 1000;
/** Of so many schedules, those that run next. */
const SCHEDULES_MAX = 50;

export default syscall({
  name: "sched.upcoming",
  doc: "List the coming runs of the caller's schedules, the next first: those of the next hours, at most limit. Of more than 50 schedules, those that run next are considered.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ hours: z.int().min(1).max(744).default(24), limit: z.int().min(1).max(200).default(50) }),
  result: z.object({ runs: z.array(z.object({ scheduleId: z.string(), name: z.string(), atMs: z.number() })) }),
  fails: {},
  example: { args: { hours: 24 }, result: { runs: [{ scheduleId: SCHEDULE.id, name: SCHEDULE.name, atMs: 1763362800000 }] } },
  run({ schedules, now }, { uid }, { hours, limit }) {
    const until = now + hours * HOUR_MS;
    const soonest = schedules.list(uid, { includeDisabled: false, limit: SCHEDULES_MAX, offset: 0 });
    const runs = soonest.flatMap((row) => listTimes(row, until, limit).map((atMs) => ({ scheduleId: row.id, name: row.name, atMs })));
    return { runs: runs.toSorted((a, b) => a.atMs - b.atMs).slice(0, limit) };
  },
});

function listTimes({ nextAt, expression, anchorAt }: ScheduleRow, until: number, limit: number): number[] {
  if (nextAt === null || nextAt > until) return [];
  try {
    return [nextAt, ...listNextRuns(expression, nextAt, anchorAt, limit - 1)].filter((at) => at <= until);
  } catch (error) {
    // Its next look at the schedule pauses it, and says why.
    if (error instanceof SysError) return [nextAt];
    throw error;
  }
}
