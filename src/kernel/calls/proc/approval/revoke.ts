// Revokes a grant.

import { z } from "zod";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.approval.revoke",
  doc: "Revoke a grant.",
  runs: "kernel",
  does: "effect",
  changes: "grants",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  args: z.object({ grantId: z.string().min(1).max(128) }),
  result: z.object({ revoked: z.boolean() }),
  fails: { 403: "the caller is a process" },
  example: {
    args: { grantId: "g1" },
    result: { revoked: true },
  },
  async run({ agents }, caller, { grantId }) {
    return { revoked: await agents.questions.revokeGrant(caller, grantId) };
  },
});
