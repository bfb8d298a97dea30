// Deletes an OAuth account.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.oauth.forget",
  doc: "Delete an OAuth account with its tokens. What used it must sign in again. The provider is not told: to end the access there too, remove GSV in the provider's own settings. For an account that does not exist or is not the caller's, the answer is forgotten: false.",
  runs: "kernel",
  does: "write",
  changes: "oauth",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    accountId: z.string({ error: "accountId is required" }).min(1, { error: "accountId is required" }).max(256),
    uid: Uid.optional(),
  }),
  result: z.object({ forgotten: z.boolean() }),
  fails: { 400: "no accountId", 403: "uid names another user" },
  example: { args: { accountId: "3c1e7a52-0f1b-4bb0-9a55-1f6f0b9f2a10" }, result: { forgotten: true } },
  run({ oauthAccounts, mcpServers, emit, after, now }, caller, { accountId, uid }) {
    if (!isRoot(caller) && uid !== undefined && uid !== caller.uid) fail(403, "Permission denied: cannot forget accounts for another user");
    const account = oauthAccounts.get(accountId);
    const owner = isRoot(caller) ? (uid ?? account?.uid) : caller.uid;
    if (account === undefined || account.uid !== owner) return { forgotten: false };
    oauthAccounts.delete(accountId);
    if (mcpServers.unlinkAccount(accountId, now)) after(() => emit.announceChanges(account.uid, ["mcp"]));
    return { forgotten: true };
  },
});
