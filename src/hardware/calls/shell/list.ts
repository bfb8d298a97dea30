// Lists the commands that can be polled.

import { z } from "zod";
import { listSessions } from "../../exec.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "shell.list",
  doc: "List your commands on a target: those that are running, and those that have ended but whose result has not been read yet. shell.exec with the sessionId polls one, writes to its standard input or sends it a signal. command is the beginning of the command; on a device, root sees the commands of all users.",
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
  fails: { 403: "the caller may not use the device", 503: "the device is offline" },
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
