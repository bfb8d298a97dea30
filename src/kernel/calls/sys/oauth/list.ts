// Lists OAuth accounts, never their tokens.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { OAuthAccountSummary, OAuthFlowSummary } from "../../../../protocol/oauth-records.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.oauth.list",
  doc: "List OAuth accounts, last changed first, without their tokens; with includePending also the sign-ins that are in progress, newest first. An account in the state needs_login is not used until its owner signs in again. Root sees all accounts or one user's; others their own.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional(), includePending: z.boolean().optional() }),
  result: z.object({ accounts: z.array(OAuthAccountSummary), flows: z.array(OAuthFlowSummary).optional() }),
  fails: { 403: "uid names another user" },
  example: {
    args: {},
    result: {
      accounts: [
        {
          accountId: "3c1e7a52-0f1b-4bb0-9a55-1f6f0b9f2a10",
          uid: 1000,
          kind: "mcp-server",
          provider: "https://linear.example",
          accountKey: "k3x9d2p1",
          label: "Linear",
          scope: "read",
          resource: "https://mcp.linear.example/mcp",
          clientId: "https://gsv.example/.well-known/oauth-client/gsv.json",
          tokenType: "Bearer",
          expiresAt: 1763203600000,
          createdAt: 1763200000000,
          updatedAt: 1763200000000,
          lastUsedAt: 1763200360000,
          metadata: { authorizedAt: 1763200000000 },
          state: "active",
          usedBy: ["Linear"],
        },
      ],
    },
  },
  run({ oauthAccounts, oauthFlows, mcpServers, now }, caller, { uid, includePending = false }) {
    if (!isRoot(caller) && uid !== undefined && uid !== caller.uid) fail(403, "Permission denied: cannot list accounts for another user");
    const owner = isRoot(caller) ? uid : caller.uid;
    const accounts = oauthAccounts.list(owner).map((account) => ({ ...account, usedBy: mcpServers.listNamesUsing(account.accountId) }));
    return { accounts, ...(includePending ? { flows: oauthFlows.list(owner, now) } : {}) };
  },
});
