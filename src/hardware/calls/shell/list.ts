// Lists the commands that can be polled.

import { z } from "zod";
import { listSessions } from "../../exec.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "shell.list",
  doc: "List your commands on a target: those that run, and those that have ended and whose end nobody was told yet. With a sessionId, shell.exec looks after one, feeds it or sends it a signal. command is its beginning; root sees everybody's on a device.",
  runs: "hardware",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({}),
  result: z.object({
    sessions: z.array(
      z.object({
        sessionId: z.string(),
        command: z.string(),
        cwd: z.string(),
        startedAt: z.number(),
        state: z.enum(["running", "ended"]),
        exitCode: z.int().optional(),
        tty: z.boolean().optional(),
        pid: z.int().optional(),
      }),
    ),
  }),
  fails: { 403: "a device that is not the caller's", 503: "a device that is offline" },
  example: {
    args: {},
    result: {
      sessions: [
        { sessionId: "sh_1", command: "npm run dev", cwd: "/home/ann/site", startedAt: 1767225600000, state: "running", pid: 4711 },
      ],
    },
  },
  run: listSessions,
});
