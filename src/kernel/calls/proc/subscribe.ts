// Follows a process.

import { z } from "zod";
import { LiveAnswer, OfProcess } from "../../../protocol/proc-records.ts";
import { RUN_STARTED } from "../../../protocol/signal-names.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.subscribe",
  doc: "Follow a process: from now on this connection receives everything it does as numbered events. With after, the answer includes the events since that number, so that a client that was disconnected misses nothing; isWhole is false if they are no longer stored, and then the client must read the history again. live is the answer that is just arriving, with the number of its last piece.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfProcess, after: z.int().min(0).optional() }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    seq: z.int(),
    isWhole: z.boolean(),
    /** The payload of each event is declared by its signal. */
    events: z.array(z.object({ seq: z.int(), signal: z.string(), payload: z.record(z.string(), z.unknown()) })),
    live: LiveAnswer.nullable(),
  }),
  fails: { 403: "the caller is a process", 404: "there is no such process", 429: "this connection follows too many processes" },
  example: {
    args: { after: 40 },
    result: {
      ok: true,
      pid: "init:1000",
      seq: 42,
      isWhole: true,
      events: [{ seq: 41, signal: RUN_STARTED, payload: { runId: "r1" } }],
      live: null,
    },
  },
  async run({ agents }, caller, { pid, after }) {
    return { ok: true as const, ...(await agents.follow(caller, pid, after ?? null)) };
  },
});
