// Sets a password and closes the connections that used the old one.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { loginByPassword } from "../../../identity/login.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.user.password",
  doc: "Set your own password (the current one is required) or, as root, anyone's. All sockets that authenticated with the old password are closed; with revokeTokens the user's tokens are revoked too. A new password unlocks a locked user.",
  runs: "kernel",
  does: "effect",
  changes: "users",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    username: z.string().max(64).optional(),
    password: z.string().min(1),
    current: z.string().optional(),
    revokeTokens: z.boolean().optional(),
  }),
  result: z.object({ ok: z.literal(true) }),
  fails: {
    400: "the new password is too short or too long",
    401: "the current password is missing or wrong",
    403: "the password is another user's",
    404: "the user that root named does not exist",
    429: "too many wrong current passwords",
  },
  example: { args: { current: "correct horse", password: "battery staple" }, result: { ok: true } },
  async run(context, caller, { username = caller.username, password, current, revokeTokens = false }) {
    if (!isRoot(caller)) {
      if (username !== caller.username) fail(403, "Permission denied: cannot set the password of another user");
      if (current === undefined) fail(401, "The current password is required");
      await loginByPassword(context, { username, password: current }, caller.address);
    }
    const provenHash = context.accounts.passwordHashOf(username);
    context.passwords.checkLength(password, "password");
    const hash = await context.passwords.hash(password, context.signal);
    return context.finish(({ accounts, connections, tokens, signInCodes, now }) => {
      const account = accounts.findByName(username) ?? fail(404, `Unknown user: ${username}`);
      // Root may have set another password during the hashing: then the proven one is no longer the current one.
      if (!isRoot(caller) && accounts.passwordHashOf(username) !== provenHash) fail(401, "Authentication failed");
      accounts.setPasswordHash(username, hash, now);
      signInCodes.removeOf(account.uid);
      const revokedIds = revokeTokens ? tokens.revokeAll(account.uid, "password changed", now) : [];
      const sockets = [
        ...connections.idsOfPasswordLogins(account.uid),
        ...revokedIds.flatMap((tokenId) => connections.idsOfToken(tokenId)),
      ];
      connections.close(sockets, 1008, "Credential revoked");
      return { ok: true as const };
    });
  },
});
