// Lists watches.

import { z } from "zod";
import { SignalWatch } from "../../../protocol/watch-records.ts";
import { syscall } from "../define.ts";

/** A page of long states is shorter. */
const PAGE_CHARS_MAX = 4 * 1024 * 1024;

export default syscall({
  name: "signal.list",
  doc: "List watches for signals, oldest first. A process sees its own; a person sees those of all their processes. count is the number of all, whatever limit and offset are; a page of watches with long states is shorter than limit.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    limit: z
      .number()
      .default(100)
      .transform((limit) => Math.min(500, Math.max(1, Math.floor(limit)))),
    offset: z.int().min(0).default(0),
  }),
  result: z.object({ watches: z.array(SignalWatch), count: z.int() }),
  fails: {},
  example: {
    args: {},
    result: {
      watches: [
        {
          watchId: "2d1a7c55-6f0e-4f5c-8a76-58a1f2b3c4d5",
          pid: "init:1000",
          signal: "proc.run.finished",
          processId: "5f6c4a3e-1111-4222-8333-944444444444",
          key: "notes",
          state: { step: 2 },
          once: true,
          status: "active",
          error: null,
          createdAt: 1763200000000,
          updatedAt: 1763200000000,
          expiresAt: 1763286400000,
        },
      ],
      count: 1,
    },
  },
  run({ signalWatches, now }, { uid, agent }, { limit, offset }) {
    const page = signalWatches.list(uid, agent?.pid, { limit, offset, chars: PAGE_CHARS_MAX }, now);
    return {
      watches: page.map(({ rowId: _, uid: __, sourcePid, data, state: status, ...watch }) => ({
        ...watch,
        processId: sourcePid,
        ...(data === undefined ? {} : { state: data }),
        status,
      })),
      count: signalWatches.count(uid, agent?.pid, now),
    };
  },
});
