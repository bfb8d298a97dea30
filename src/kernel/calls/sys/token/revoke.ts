// Revokes a token and closes every connection that used it.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.token.revoke",
  doc: "Revoke a token permanently and close the sockets that use it. For a token that does not exist or is not the caller's, the answer is revoked: false.",
  runs: "kernel",
  does: "write",
  changes: "tokens",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    tokenId: z
      .string({ error: "sys.token.revoke requires tokenId" })
      .min(1, { error: "sys.token.revoke requires tokenId" })
      .max(256, { error: "tokenId must be at most 256 characters" }),
    reason: z.string().max(500).optional(),
    uid: Uid.optional(),
  }),
  result: z.object({ revoked: z.boolean() }),
  fails: { 400: "no tokenId", 403: "uid names another user" },
  example: { args: { tokenId: "6f1f0f0e-8a44-4f0e-b6f5-0c1d8f2a9b10", reason: "lost laptop" }, result: { revoked: true } },
  run({ tokens, connections, now }, caller, { tokenId, reason, uid }) {
    if (!isRoot(caller) && uid !== undefined && uid !== caller.uid) fail(403, "Permission denied: cannot revoke tokens for another user");
    const token = tokens.get(tokenId);
    const owner = isRoot(caller) ? (uid ?? token?.uid) : caller.uid;
    if (token === undefined || token.uid !== owner) return { revoked: false };
    tokens.revoke(tokenId, reason ?? null, now);
    connections.close(connections.idsOfToken(tokenId), 1008, "Credential revoked");
    return { revoked: true };
  },
});
