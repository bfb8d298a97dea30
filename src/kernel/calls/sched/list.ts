// Lists schedules.

import { z } from "zod";
import { isRoot } from "../../../protocol/caller.ts";
import { fail } from "../../../lib/sys-error.ts";
import { ScheduleRecord } from "../../../protocol/schedule-records.ts";
import { sizeOf } from "../../nouns/schedules.ts";
import { makeScheduleRecord } from "../../schedules/record.ts";
import { syscall } from "../define.ts";
import { SCHEDULE } from "../../schedules/example.ts";

/** A page of long texts is shorter. */
const PAGE_CHARS_MAX = 4 * 1024 * 1024;

export default syscall({
  name: "sched.list",
  doc: "List schedules: the next to run first, then those that do not run any more. Disabled ones are left out unless includeDisabled is set. count is the number of all that match, whatever limit and offset are; a page of schedules with long texts is shorter than limit. Users see their own; root sees all, or those of one user.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    ownerUid: z.int().min(0).optional(),
    includeDisabled: z.boolean().default(false),
    limit: z
      .number()
      .default(100)
      .transform((limit) => Math.min(500, Math.max(1, Math.floor(limit)))),
    offset: z.int().min(0).default(0),
  }),
  result: z.object({ schedules: z.array(ScheduleRecord), count: z.int() }),
  fails: { 403: "another user's, and the caller is not root" },
  example: { args: {}, result: { schedules: [SCHEDULE], count: 1 } },
  run(context, caller, { ownerUid = isRoot(caller) ? undefined : caller.uid, includeDisabled, limit, offset }) {
    if (ownerUid !== caller.uid && !isRoot(caller)) fail(403, "Permission denied: cannot list schedules of another user");
    const rows = context.schedules.list(ownerUid, { includeDisabled, limit, offset });
    let size = 0;
    const page = rows.filter(({ target }, at) => (size += sizeOf(target)) <= PAGE_CHARS_MAX || at === 0);
    return {
      schedules: page.map((row) => makeScheduleRecord(context, row)),
      count: context.schedules.count(ownerUid, includeDisabled),
    };
  },
});
