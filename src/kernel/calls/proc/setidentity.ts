// Reserved for the kernel: every caller is refused.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.setidentity",
  doc: "Set the identity of a process. Only the kernel may.",
  runs: "kernel",
  does: "effect",
  from: [],
  grant: [],
  args: z.object({}),
  result: z.object({}),
  fails: { 403: "always: only the kernel does this" },
  example: {
    args: {},
    result: {},
  },
  run: () => fail(403, "Permission denied: proc.setidentity"),
});
