// Lists the profiles of processes.

import { z } from "zod";
import { PROFILES } from "../../../agents/profiles.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.profile.list",
  doc: "List the profiles a process can be started with.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({}),
  result: z.object({
    profiles: z.array(
      z.object({
        id: z.string(),
        kind: z.enum(["system", "package"]),
        displayName: z.string(),
        description: z.string(),
        interactive: z.boolean(),
        startable: z.boolean(),
        background: z.boolean(),
        spawnMode: z.enum(["singleton", "new"]),
      }),
    ),
  }),
  fails: {},
  example: {
    args: {},
    result: {
      profiles: [
        {
          id: "task",
          kind: "system",
          displayName: "Task",
          description: "Does one bounded piece of work.",
          interactive: true,
          startable: true,
          background: false,
          spawnMode: "new",
        },
      ],
    },
  },
  run() {
    return { profiles: PROFILES.map((profile) => ({ kind: "system" as const, ...profile })) };
  },
});
