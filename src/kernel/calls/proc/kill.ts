// Stops everything that a process does and empties it.

import { z } from "zod";
import { ArchiveEntry, StillRunning, Pid } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.kill",
  doc: "End everything a process does and empty all its conversations, which are archived first unless archive is false. The process itself stays in the list and can receive messages again. If it works in a workspace, the messages of the default conversation are committed there first, archived or not, and the model renews the workspace's summary after this call returns.",
  runs: "kernel",
  does: "effect",
  changes: "processes",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ pid: Pid, archive: z.boolean().optional() }),
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
    args: { pid: "init:1000" },
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
  run: ({ agents }, caller, { pid, archive = true }) => agents.reset(caller, pid, "process.kill", archive),
});
