// Lists the coming runs of all schedules.

import { z } from "zod";
import { listComingRuns } from "../../schedules/coming-runs.ts";
import { syscall } from "../define.ts";
import { SCHEDULE } from "../../schedules/example.ts";

const HOUR_MS = 60 * 60 * 1000;

export default syscall({
  name: "sched.upcoming",
  doc: "List the coming runs of the caller's schedules, the next first: those of the next hours, at most limit. sched.preview lists those of one schedule.",
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
    // A schedule that runs after so many others is not among the first.
    return { runs: listComingRuns(schedules.listComing(uid, until, limit), { now, until, limit }) };
  },
});
