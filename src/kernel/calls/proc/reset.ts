// Empties a process.

import { z } from "zod";
import { ArchiveEntry, StillRunning, OfProcess } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.reset",
  doc: "Archive all conversations of a process and start over: its run and its queue end, generations increase, policies and segments stay. If it works in a workspace, the messages of the default conversation are committed there first, and the model renews the workspace's summary after this call returns.",
  runs: "kernel",
  does: "effect",
  changes: "processes",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ ...OfProcess }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    archivedMessages: z.int(),
    archivedTo: z.string().optional(),
    archives: z.array(ArchiveEntry),
    stillRunning: z.array(StillRunning).optional(),
  }),
  fails: { 404: "there is no such process", 409: "a conversation of it is being reset, rewound or deleted" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      archivedMessages: 2,
      archivedTo: "/var/sessions/alice/init:1000/5b0c/",
      archives: [
        { conversationId: "default", generation: 1, messages: 2, path: "/var/sessions/alice/init:1000/5b0c/default.gen-1.jsonl.gz" },
      ],
    },
  },
  run: ({ agents }, caller, { pid }) => agents.reset(caller, pid, "process.reset", true),
});
