// Adds a group.

import { z } from "zod";
import { Gid, Group } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.group.create",
  doc: "Add an empty group without capabilities. Without a gid it gets the next one from 200.",
  runs: "kernel",
  does: "write",
  changes: "groups",
  from: ["user"],
  grant: [],
  args: z.object({ name: z.string().trim().min(1).max(64), gid: Gid.optional() }),
  result: z.object({ group: Group }),
  fails: { 400: "not a group name, or a gid that is not between 200 and 999", 409: "the name or the gid is taken" },
  example: { args: { name: "family" }, result: { group: { gid: 200, name: "family", members: [] } } },
  run({ groups }, _caller, { name, gid }) {
    return { group: groups.make(name, gid) };
  },
});
