// Ends a code with which the caller signs in on another device.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.signin.revoke",
  doc: "End a code of sys.signin.create before it expires. A token that it gave stays: sys.token.revoke ends that.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({ codeId: z.string().min(1).max(256) }),
  result: z.object({ ok: z.literal(true) }),
  fails: { 404: "no such code of the caller, or a newer one has replaced it" },
  example: { args: { codeId: "0d8f2a9b-8a44-4f0e-b6f5-0c1d8f2a9b10" }, result: { ok: true } },
  run({ signInCodes }, caller, { codeId }) {
    if (signInCodes.find(codeId)?.uid !== caller.uid) fail(404, `Sign-in code not found: ${codeId}`);
    signInCodes.removeOf(caller.uid);
    return { ok: true as const };
  },
});
