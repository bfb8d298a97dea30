// Answers a question of an agent.

import { z } from "zod";
import { NAMED_SCOPES } from "../../../approval/grants.ts";
import { Grant, HilRequest, OfProcess } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.hil",
  doc: "Answer a question of a process: whether a call may run, or whether it may use more than its budget. An approval covers exactly the call that was shown, once. remember adds a grant for that process, which can be listed and revoked. With scope, the grant covers exactly that call, calls below the same folder, or the call with any arguments, for ttlMs or a day. Without scope it covers similar calls for a day: of the same syscall, on the same target (the gateway or that one device), with no tag that the approved call did not have, and only if the command can be read before it runs; for a call that is policy-bearing, may read secrets or uses rights beyond the user's own, it covers exactly that call.",
  runs: "kernel",
  does: "effect",
  changes: "approvals",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({
    ...OfProcess,
    requestId: z.string().min(1).max(128),
    decision: z.enum(["approve", "deny"], { error: "decision must be approve or deny" }),
    remember: z.boolean().optional(),
    scope: z.enum(NAMED_SCOPES).optional(),
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
    400: "a grant cannot cover this much or last this long",
    403: "the caller is a process",
    404: "there is no such question",
    409: "it was already answered, or it has expired",
  },
  example: {
    args: { requestId: "q1", decision: "approve" },
    result: { ok: true, pid: "init:1000", requestId: "q1", decision: "approve", resumed: true, pendingHil: null },
  },
  run: ({ agents }, caller, { pid, ...decision }) => agents.questions.recordDecision(caller, pid, decision),
});
