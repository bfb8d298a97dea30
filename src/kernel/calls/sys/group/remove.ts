// Removes a group with its capabilities.

import { z } from "zod";
import { Gid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.group.remove",
  doc: "Remove a custom group, its memberships and its capabilities. Takes effect on open connections at once.",
  runs: "kernel",
  does: "write",
  changes: "groups",
  from: ["user"],
  grant: [],
  args: z.object({ gid: Gid }),
  result: z.object({ removed: z.boolean() }),
  fails: { 409: "a built-in group or a user's private group" },
  example: { args: { gid: 200 }, result: { removed: true } },
  run({ groups, capabilities, connections, devices }, _caller, { gid }) {
    const removed = groups.remove(gid);
    capabilities.revokeAll(gid);
    devices.revokeAll(gid);
    connections.clearCaches();
    return { removed };
  },
});
