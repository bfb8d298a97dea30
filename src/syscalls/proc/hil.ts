// A person answers what an agent asks.

import { z } from "zod";
import { Grant, HilRequest, OfProcess } from "../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.hil",
  doc: "Answer a question of a process: whether a call may run, or whether it may use more than its budget. A yes is for exactly the call that was shown, once; remember allows exactly that call for a day, scope and ttlMs more of it in ways that can be listed and revoked.",
  runs: "kernel",
  does: "effect",
  changes: "approvals",
  from: ["user"],
  grant: ["users"],
  keeps: true,
  args: z.object({
    ...OfProcess,
    requestId: z.string().min(1).max(128),
    decision: z.enum(["approve", "deny"], { error: "decision must be approve or deny" }),
    remember: z.boolean().optional(),
    scope: z.enum(["exact", "folder", "tool"]).optional(),
    ttlMs: z.int().min(60_000).optional(),
    reason: z.string().max(2000).optional(),
  }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    requestId: z.string(),
    decision: z.enum(["approve", "deny"]),
    resumed: z.boolean(),
    remembered: z.literal(true).optional(),
    grant: Grant.optional(),
    pendingHil: HilRequest.nullable(),
  }),
  fails: {
    400: "this cannot be remembered so widely or for so long",
    403: "the caller is a process",
    404: "there is no such question",
    409: "it was answered, or nobody did so in time",
  },
  example: {
    args: { requestId: "q1", decision: "approve" },
    result: { ok: true, pid: "init:1000", requestId: "q1", decision: "approve", resumed: true, pendingHil: null },
  },
  run: ({ agents }, caller, { pid, ...decision }) => agents.questions.decide(caller, pid, decision),
});
