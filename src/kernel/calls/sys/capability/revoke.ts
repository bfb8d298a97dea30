// Revokes a capability of a group.

import { z } from "zod";
import { Gid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.capability.revoke",
  doc: "Revoke a capability of a group, by exactly the pattern that was granted. It stays revoked across restarts and takes effect on open connections at once.",
  runs: "kernel",
  does: "write",
  changes: "capabilities",
  from: ["user"],
  grant: [],
  args: z.object({ gid: Gid, capability: z.string().min(1).max(128) }),
  result: z.object({ changed: z.boolean() }),
  fails: { 409: "root's own *" },
  example: { args: { gid: 100, capability: "sys.token.create" }, result: { changed: true } },
  run({ capabilities, connections }, _caller, { gid, capability }) {
    const changed = capabilities.revoke(gid, capability);
    connections.clearCaches();
    return { changed };
  },
});
