// Describes the gateway and its limits.

import { z } from "zod";
import { NATIVE_LIMITS } from "../../../hardware/filesystem.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "sys.info",
  doc: "Read the version, host, start time, clock and limits of the gateway, including the limits of hardware calls on its own target.",
  runs: "kernel",
  does: "read",
  from: ["user", "service"],
  grant: ["users", "services"],
  args: z.object({}),
  result: z.object({
    version: z.string(),
    host: z.string(),
    startedAt: z.number(),
    now: z.number(),
    limits: z.record(z.string(), z.number()),
  }),
  fails: {},
  example: {
    args: {},
    result: { version: "0.1.0", host: "node", startedAt: 1763200000000, now: 1763200360000, limits: { ...LIMITS, ...NATIVE_LIMITS } },
  },
  run({ about, now }) {
    return { version: about.version, host: about.host, startedAt: about.startedAt, now, limits: { ...about.limits, ...NATIVE_LIMITS } };
  },
});
