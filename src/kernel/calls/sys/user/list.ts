// Lists users.

import { z } from "zod";
import { Account } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.user.list",
  doc: "List all users by uid, with their groups and whether they are locked. Never their hashes.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: [],
  args: z.object({}),
  result: z.object({ users: z.array(Account) }),
  fails: {},
  example: {
    args: {},
    result: {
      users: [{ uid: 0, gid: 0, username: "root", gecos: "root", home: "/root", shell: "/bin/init", groups: ["root"], locked: false }],
    },
  },
  run({ accounts }) {
    return { users: accounts.list() };
  },
});
