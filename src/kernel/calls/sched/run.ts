// Runs schedules now.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { syscall } from "../define.ts";
import { SCHEDULE } from "../../schedules/example.ts";

export default syscall({
  name: "sched.run",
  doc: "Run what is due: one schedule, or all of the caller, or of everybody if root asks. The gateway does the same by itself. With mode force, run one schedule now, due or not, enabled or not; its next run stays as it is. The answer comes when the process has been started or has its message; sched.runs says how its work ended. Repeated with the same key, force is the same run.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "keyed",
  isExpensive: true,
  isDurableBeforeAnswer: true,
  args: z.object({ id: z.string().min(1).max(128).optional(), mode: z.enum(["due", "force"]).default("due") }),
  result: z.object({
    ran: z.int(),
    results: z.array(
      z.object({
        scheduleId: z.string(),
        status: z.enum(["ok", "error", "skipped"]),
        error: z.string().optional(),
        summary: z.string().optional(),
        durationMs: z.number(),
        nextRunAtMs: z.number().nullable().optional(),
      }),
    ),
  }),
  fails: { 400: "force without an id", 404: "there is no such schedule of this user" },
  example: {
    args: { id: SCHEDULE.id, mode: "force" },
    result: {
      ran: 1,
      results: [
        {
          scheduleId: SCHEDULE.id,
          status: "ok",
          summary: "started process 5f6c4a3e-1111-4222-8333-944444444444",
          durationMs: 12,
          nextRunAtMs: 1763362800000,
        },
      ],
    },
  },
  async run({ scheduler, key, finish }, caller, { id, mode }) {
    if (mode === "force" && id === undefined) fail(400, "sched.run force requires an id");
    const results = mode === "force" ? [await scheduler.force(caller, id!, key)] : await scheduler.runDue(caller, id);
    return finish(() => ({ ran: results.filter(({ status }) => status !== "skipped").length, results }));
  },
});
