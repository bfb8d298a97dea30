// Sets the members of a group.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { Gid, Group } from "../../../../protocol/records.ts";
import { requireMayDelegate } from "../../../identity/authorize.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.group.members",
  doc: "Replace the list of users in a group. Takes effect on open connections at once. Nobody can add users to a group that has more rights than they have themselves.",
  runs: "kernel",
  does: "write",
  changes: "groups",
  from: ["user"],
  grant: [],
  args: z.object({ gid: Gid, members: z.array(z.string().max(64)).max(10_000) }),
  result: z.object({ group: Group }),
  fails: { 403: "the group has more rights than the caller", 404: "no such group or user", 409: "root would leave its own group" },
  example: { args: { gid: 200, members: ["alice", "bob"] }, result: { group: { gid: 200, name: "family", members: ["alice", "bob"] } } },
  run({ groups, accounts, capabilities, connections }, caller, { gid, members }) {
    if (groups.get(gid) === undefined) fail(404, `Unknown group: ${gid}`);
    requireMayDelegate(caller, capabilities.listForGroups([gid]));
    for (const username of members) if (accounts.findByName(username) === undefined) fail(404, `Unknown user: ${username}`);
    if (gid === 0 && !members.includes("root")) fail(409, "root must stay in its own group");
    groups.setMembers(gid, members);
    connections.clearCaches();
    return { group: groups.get(gid)! };
  },
});
