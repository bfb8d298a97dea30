// Changes the description of a user.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { Account } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.user.update",
  doc: "Change a user's gecos, which describes the user. Name, uid and home never change.",
  runs: "kernel",
  does: "write",
  changes: "users",
  from: ["user"],
  grant: [],
  args: z.object({ username: z.string().min(1).max(64), gecos: z.string().max(200) }),
  result: z.object({ user: Account }),
  fails: { 400: "it contains a colon or a control character", 404: "no such user" },
  example: {
    args: { username: "bob", gecos: "Bob of the workshop" },
    result: {
      user: {
        uid: 1001,
        gid: 1001,
        username: "bob",
        gecos: "Bob of the workshop",
        home: "/home/bob",
        shell: "/bin/init",
        groups: ["users", "bob"],
        locked: false,
      },
    },
  },
  run({ accounts }, _caller, { username, gecos }) {
    if (accounts.findByName(username) === undefined) fail(404, `Unknown user: ${username}`);
    accounts.setGecos(username, gecos);
    return { user: accounts.findByName(username)! };
  },
});
