// Shows what a policy would decide about a call.

import { z } from "zod";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.approval.preview",
  doc: "Test a call against the approval policy of a profile, or against a given one, without running it: whether it would run, need approval or be refused, and why.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  isExpensive: true,
  args: z.object({
    profile: z.string().max(64).optional(),
    policy: z.string().max(262_144).optional(),
    call: z.string().min(1).max(128),
    args: z.record(z.string(), z.unknown()).default({}),
  }),
  result: z.object({
    action: z.enum(["auto", "ask", "deny"]),
    why: z.string(),
    rule: z.int().optional(),
    tags: z.array(z.string()),
    target: z.enum(["gsv", "device"]),
    problem: z.string().optional(),
  }),
  fails: { 404: "there is no such call" },
  example: {
    args: { call: "fs.delete", args: { path: "/home/alice/old" } },
    result: { action: "ask", why: "Approval required: fs.delete", rule: 40, tags: ["mutating"], target: "gsv" },
  },
  run: ({ agents }, caller, args) => agents.previewDecision(caller, args),
});
