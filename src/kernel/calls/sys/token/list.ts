// Lists tokens, never their values.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { TokenSummary, Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.token.list",
  doc: "List tokens, including revoked ones, newest first. Root sees all tokens or one user's; others their own. endsUnusedAt says when a token expires unless it is used before; a connection that uses it counts as use.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional() }),
  result: z.object({ tokens: z.array(TokenSummary) }),
  fails: { 403: "another user's" },
  example: {
    args: {},
    result: {
      tokens: [
        {
          tokenId: "6f1f0f0e-8a44-4f0e-b6f5-0c1d8f2a9b10",
          uid: 1000,
          kind: "node",
          label: "laptop",
          tokenPrefix: "gsv_node_Yx3fQ0a",
          allowedRole: "driver",
          allowedDeviceId: "laptop",
          createdAt: 1763200000000,
          lastUsedAt: 1763200360000,
          expiresAt: null,
          endsUnusedAt: 1794736360000,
          revokedAt: null,
          revokedReason: null,
        },
      ],
    },
  },
  run({ tokens }, caller, { uid }) {
    if (isRoot(caller)) return { tokens: tokens.list(uid) };
    if (uid !== undefined && uid !== caller.uid) fail(403, "Permission denied: cannot list tokens for another user");
    return { tokens: tokens.list(caller.uid) };
  },
});
