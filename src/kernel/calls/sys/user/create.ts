// Adds a user.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { Account } from "../../../../protocol/records.ts";
import { requireMayDelegate } from "../../../identity/authorize.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.user.create",
  doc: "Add a user with a home, a private group (gid = uid) and membership in users and in any further groups named. Nobody can add a user to a group that has more rights than they have themselves.",
  runs: "kernel",
  does: "effect",
  changes: "users",
  from: ["user"],
  grant: [],
  args: z.object({
    username: z.string().trim().min(1),
    password: z.string().min(1),
    gecos: z.string().max(200).optional(),
    groups: z.array(z.string().max(64)).max(64).optional(),
  }),
  result: z.object({ user: Account }),
  fails: {
    400: "a value is missing or not valid",
    403: "a group has more rights than the caller",
    404: "a group does not exist",
    409: "the user exists, or there is a file at the path of the home",
  },
  example: {
    args: { username: "bob", password: "battery staple", groups: ["family"] },
    result: {
      user: {
        uid: 1001,
        gid: 1001,
        username: "bob",
        gecos: "bob",
        home: "/home/bob",
        shell: "/bin/init",
        groups: ["users", "family", "bob"],
        locked: false,
      },
    },
  },
  async run({ passwords, signal, finish }, caller, args) {
    passwords.checkLength(args.password, "password");
    const hash = await passwords.hash(args.password, signal);
    return finish(({ accounts, groups, capabilities, connections, files, repositories, now }) => {
      // Read again: rights may have changed while the password was being hashed.
      const presentCaller = connections.caller(caller.connectionId) ?? caller;
      const user = accounts.add({ username: args.username, gecos: args.gecos, hash }, now);
      files.makeHome(user, now);
      repositories.makeHome(user.username, now);
      const allGroups = groups.list();
      for (const name of args.groups ?? []) {
        const group = allGroups.find((candidate) => candidate.name === name) ?? fail(404, `Unknown group: ${name}`);
        requireMayDelegate(presentCaller, capabilities.listForGroups([group.gid]));
        groups.addMember(group.gid, user.username);
      }
      return { user: accounts.findByUid(user.uid)! };
    });
  },
});
