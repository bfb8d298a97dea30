// Lists groups.

import { z } from "zod";
import { Group } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.group.list",
  doc: "List all groups by gid with their members. A user's private group lists no members: its gid is the user's primary group.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: [],
  args: z.object({}),
  result: z.object({ groups: z.array(Group) }),
  fails: {},
  example: { args: {}, result: { groups: [{ gid: 100, name: "users", members: ["alice"] }] } },
  run({ groups }) {
    return { groups: groups.list() };
  },
});
