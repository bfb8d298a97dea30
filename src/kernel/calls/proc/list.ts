// Lists processes.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { isRoot } from "../../../protocol/caller.ts";
import { ProcessSummary } from "../../../protocol/proc-records.ts";
import { Uid } from "../../../protocol/records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.list",
  doc: "List agent processes with what each is doing. Users see their own; root sees all, or those of one user.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional() }),
  result: z.object({ processes: z.array(ProcessSummary) }),
  fails: { 403: "another user's, and the caller is not root" },
  example: {
    args: {},
    result: {
      processes: [
        {
          pid: "init:1000",
          uid: 1000,
          username: "alice",
          profile: "init",
          parentPid: null,
          state: "idle",
          label: "init (alice)",
          createdAt: 1763200000000,
          workspaceId: null,
          cwd: "/home/alice",
          activeRunId: null,
          activeConversationId: null,
          queuedCount: 0,
          lastActiveAt: null,
        },
      ],
    },
  },
  run({ processes }, caller, { uid = isRoot(caller) ? undefined : caller.uid }) {
    if (uid !== caller.uid && !isRoot(caller)) fail(403, "Permission denied: cannot list processes of another user");
    return { processes: processes.list(uid).map(({ isBusy: _, heardSeq: __, contextFiles: ___, home: ____, ...shown }) => shown) };
  },
});
