// Grants a capability to a group.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { Gid } from "../../../../protocol/records.ts";
import { requireMayDelegate } from "../../../identity/authorize.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.capability.grant",
  doc: "Give a group a capability: *, a family such as sys.config.*, or one name. Nobody can give a capability they do not have. Takes effect on open connections at once.",
  runs: "kernel",
  does: "write",
  changes: "capabilities",
  from: ["user"],
  grant: [],
  args: z.object({ gid: Gid, capability: z.string().min(1).max(128) }),
  result: z.object({ changed: z.boolean() }),
  fails: { 400: "not a capability pattern", 403: "the caller does not have it", 404: "no such group" },
  example: { args: { gid: 200, capability: "sys.config.get" }, result: { changed: true } },
  run({ groups, capabilities, connections }, caller, { gid, capability }) {
    requireMayDelegate(caller, [capability]);
    if (groups.get(gid) === undefined) fail(404, `Unknown group: ${gid}`);
    const changed = capabilities.grant(gid, capability);
    connections.clearCaches();
    return { changed };
  },
});
