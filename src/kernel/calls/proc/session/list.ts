// Lists the background commands of a process.

import { z } from "zod";
import { OfProcess } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

const Session = z.object({
  sessionId: z.string(),
  target: z.string(),
  command: z.string(),
  runId: z.string(),
  conversationId: z.string(),
  startedAt: z.number(),
  /** unknown: the target cannot be reached, for example an offline device. */
  state: z.enum(["running", "unknown"]),
});

export default syscall({
  name: "proc.session.list",
  doc: "List the background commands of a process on all targets, oldest first. shell.exec with the sessionId reads the output of one, writes to its standard input or ends it with a signal; proc.reset and proc.kill end all of them.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfProcess }),
  result: z.object({ ok: z.literal(true), pid: z.string(), sessions: z.array(Session) }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      sessions: [
        {
          sessionId: "sh_5b0c",
          target: "laptop",
          command: "npm run dev",
          runId: "r1",
          conversationId: "default",
          startedAt: 1763200000000,
          state: "running",
        },
      ],
    },
  },
  async run({ agents }, caller, { pid }) {
    const process = agents.requireProcess(caller, pid);
    const sessions = await agents.backgroundCommands.list(process);
    return { ok: true as const, pid: process.pid, sessions: sessions.map(({ pid: _, uid: __, ...session }) => session) };
  },
});
