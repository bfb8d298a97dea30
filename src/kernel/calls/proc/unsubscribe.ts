// Stops following a process.

import { z } from "zod";
import { OfProcess } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.unsubscribe",
  doc: "Stop following a process on this connection.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfProcess }),
  result: z.object({ ok: z.literal(true), pid: z.string(), unsubscribed: z.boolean() }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: { ok: true, pid: "init:1000", unsubscribed: true },
  },
  async run({ agents, relaxed }, caller, { pid }) {
    const process = agents.requireProcess(caller, pid);
    return {
      ok: true as const,
      pid: process.pid,
      unsubscribed: relaxed(({ followers }) => followers.unfollow(caller.connectionId, process.pid)),
    };
  },
});
