// Removes watches.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "signal.unwatch",
  doc: "Remove a watch by its id, or by its key. A process removes its own; a person removes those of all their processes.",
  runs: "kernel",
  does: "write",
  changes: "watches",
  from: ["user"],
  grant: ["users"],
  args: z.object({ watchId: z.string().min(1).max(128).optional(), key: z.string().trim().min(1).max(128).optional() }),
  result: z.object({ removed: z.int() }),
  fails: { 400: "neither or both of watchId and key" },
  example: { args: { key: "notes" }, result: { removed: 1 } },
  run({ signalWatches, now }, { uid, agent }, { watchId, key }) {
    if ((watchId === undefined) === (key === undefined)) fail(400, "signal.unwatch requires either watchId or key");
    return { removed: signalWatches.remove(uid, agent?.pid, watchId === undefined ? { key: key! } : { watchId }, now) };
  },
});
