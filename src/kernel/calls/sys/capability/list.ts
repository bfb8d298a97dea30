// Lists the capabilities of groups.

import { z } from "zod";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.capability.list",
  doc: "List the capability patterns of every group.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: [],
  args: z.object({}),
  result: z.object({ capabilities: z.array(z.object({ gid: z.int(), capability: z.string() })) }),
  fails: {},
  example: { args: {}, result: { capabilities: [{ gid: 0, capability: "*" }] } },
  run({ capabilities }) {
    return { capabilities: capabilities.list() };
  },
});
