// Adds a group.

import { z } from "zod";
import { Group } from "../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.group.create",
  doc: "Add an empty group that may do nothing yet.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: [],
  args: z.object({ name: z.string().trim().min(1).max(64) }),
  result: z.object({ group: Group }),
  fails: { 400: "not a group name", 409: "the name is taken" },
  example: { args: { name: "family" }, result: { group: { gid: 200, name: "family", members: [] } } },
  run({ groups }, _caller, { name }) {
    return { group: groups.make(name) };
  },
});
