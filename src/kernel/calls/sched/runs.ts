// Lists the runs of a schedule.

import { z } from "zod";
import { ScheduleRun } from "../../../protocol/schedule-records.ts";
import { makeRunRecord } from "../../schedules/record.ts";
import { syscall } from "../define.ts";
import { SCHEDULE } from "../../schedules/example.ts";

export default syscall({
  name: "sched.runs",
  doc: "List the runs of a schedule, newest first: when each was due, how it ended, and which process worked on it. A run that was skipped says why. refusedCalls says how many calls of a run were refused, so it may have done less than it should have. before is the runId of the last run of the page before. The newest 100 runs of a schedule are kept, and all of the last day.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    id: z.string().min(1).max(128),
    before: z.string().min(1).max(128).optional(),
    limit: z.int().min(1).max(200).default(50),
  }),
  result: z.object({ runs: z.array(ScheduleRun), hasMore: z.boolean() }),
  fails: { 404: "there is no such schedule of this user, or no run to continue from" },
  example: {
    args: { id: SCHEDULE.id, limit: 1 },
    result: {
      runs: [
        {
          runId: "0b7ad7c3-2c63-4e8c-9c36-f3b4f6a6a001",
          scheduleId: SCHEDULE.id,
          dueAtMs: 1763362800000,
          startedAtMs: 1763362800004,
          finishedAtMs: 1763362812450,
          status: "ok",
          error: null,
          summary: "Three mails need an answer: ...",
          pid: "5f6c4a3e-1111-4222-8333-944444444444",
          conversationId: "default",
          missed: 0,
          refusedCalls: 0,
        },
      ],
      hasMore: true,
    },
  },
  run({ schedules, scheduleRuns }, caller, { id, before, limit }) {
    schedules.requireUsable(caller, id);
    const last = before === undefined ? undefined : scheduleRuns.requireOf(id, before);
    const rows = scheduleRuns.list(id, { before: last, limit: limit + 1 });
    return { runs: rows.slice(0, limit).map(makeRunRecord), hasMore: rows.length > limit };
  },
});
