// Shows what a user's processes have used, day by day.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { isRoot } from "../../../protocol/caller.ts";
import { Spent } from "../../../protocol/proc-records.ts";
import { Uid } from "../../../protocol/records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.spending",
  doc: "Read what all processes of a user have used, by day in UTC, newest first. Users read their own; root can read anyone's.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional(), days: z.int().min(1).max(366).optional() }),
  result: z.object({ uid: z.int(), days: z.array(z.object({ day: z.string(), spent: Spent })) }),
  fails: { 403: "another user's, and the caller is not root" },
  example: {
    args: {},
    result: {
      uid: 1000,
      days: [
        {
          day: "2026-11-15",
          spent: {
            modelCalls: 2,
            toolCalls: 1,
            wallMs: 4200,
            usage: {
              input: 2100,
              output: 180,
              cacheRead: 0,
              cacheWrite: 0,
              totalTokens: 2280,
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
            },
          },
        },
      ],
    },
  },
  run({ spending }, caller, { uid = caller.uid, days = 31 }) {
    if (uid !== caller.uid && !isRoot(caller)) fail(403, "Permission denied: cannot read what another user has used");
    return { uid, days: spending.listDays(uid, days) };
  },
});
