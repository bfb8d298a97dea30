// Locks or unlocks a user.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.user.lock",
  doc: "Lock a user: their password and tokens are no longer accepted, and their sockets are closed. With locked: false they can log in again as before. Root cannot be locked.",
  runs: "kernel",
  does: "write",
  changes: "users",
  from: ["user"],
  grant: [],
  args: z.object({ username: z.string().min(1).max(64), locked: z.boolean() }),
  result: z.object({ ok: z.literal(true) }),
  fails: { 404: "no such user", 409: "root, or a user without a password" },
  example: { args: { username: "bob", locked: true }, result: { ok: true } },
  run({ accounts, connections, signInCodes }, _caller, { username, locked }) {
    const account = accounts.findByName(username) ?? fail(404, `Unknown user: ${username}`);
    if (account.uid === 0) fail(409, "root cannot be locked: nobody could unlock it again");
    accounts.setLocked(username, locked);
    if (locked) {
      signInCodes.removeOf(account.uid);
      connections.close(connections.idsOfUser(account.uid), 1008, "Account locked");
    }
    return { ok: true as const };
  },
});
