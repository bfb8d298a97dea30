// Lists watches.

import { z } from "zod";
import { SignalWatch } from "../../../protocol/watch-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "signal.list",
  doc: "List watches for signals, oldest first. A process sees its own; a person sees those of all their processes.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({}),
  result: z.object({ watches: z.array(SignalWatch) }),
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
    },
  },
  run({ signalWatches, now }, { uid, agent }) {
    return {
      watches: signalWatches.list(uid, agent?.pid, now).map(({ uid: _, sourcePid, data, state: status, ...watch }) => ({
        ...watch,
        processId: sourcePid,
        ...(data === undefined ? {} : { state: data }),
        status,
      })),
    };
  },
});
