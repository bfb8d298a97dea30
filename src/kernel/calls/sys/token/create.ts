// Issues a token.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { type Caller, isRoot } from "../../../../protocol/caller.ts";
import { FirstUseWithinMs, IssuedToken, Role, TokenKind, Uid } from "../../../../protocol/records.ts";
import { ROLE_OF } from "../../../nouns/tokens.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.token.create",
  doc: "Issue a token. Only the answer contains its value. A token never has more rights than its creator: a user token cannot outlive the token it was created with, and only root can create service tokens. Without expiresAt it expires after a year without use, and a connection counts as use; with null it never expires. With firstUseWithinMs it expires unless it is used within that time; once used, it is like any other. endsUnusedAt says when it expires unless it is used before.",
  runs: "kernel",
  does: "write",
  changes: "tokens",
  from: ["user"],
  grant: ["users"],
  secret: true,
  args: z.object({
    uid: Uid.optional(),
    kind: TokenKind,
    label: z.string().trim().max(200).optional(),
    allowedRole: Role.optional(),
    allowedDeviceId: z.string().trim().min(1).max(256).optional(),
    expiresAt: z.int().nullable().optional(),
    firstUseWithinMs: FirstUseWithinMs.optional(),
  }),
  result: z.object({ token: IssuedToken }),
  fails: {
    400: "the role does not match the kind, a token that is not for a device has a device id, or the expiry is in the past",
    403: "the token is for another user, or has more rights than the caller",
    404: "the uid that root named does not exist",
    409: "the user has too many tokens that are still valid",
  },
  example: {
    args: { kind: "node", label: "laptop", allowedDeviceId: "laptop", firstUseWithinMs: 3600000 },
    result: {
      token: {
        tokenId: "6f1f0f0e-8a44-4f0e-b6f5-0c1d8f2a9b10",
        token: "gsv_node_(43 characters, shown once)",
        tokenPrefix: "gsv_node_Yx3fQ0a",
        uid: 1000,
        kind: "node",
        label: "laptop",
        allowedRole: "driver",
        allowedDeviceId: "laptop",
        createdAt: 1763200000000,
        expiresAt: null,
        endsUnusedAt: 1763203600000,
      },
    },
  },
  run({ accounts, tokens, now }, caller, { uid = caller.uid, kind, label, allowedRole, allowedDeviceId, expiresAt, firstUseWithinMs }) {
    if (!isRoot(caller) && uid !== caller.uid) fail(403, "Permission denied: cannot create tokens for another user");
    if (accounts.findByUid(uid) === undefined) fail(404, `Unknown uid: ${uid}`);
    if (allowedRole !== undefined && allowedRole !== ROLE_OF[kind])
      fail(400, `Invalid allowedRole for kind=${kind}: expected ${ROLE_OF[kind]}`);
    if (allowedDeviceId !== undefined && kind !== "node") fail(400, "allowedDeviceId is only valid for driver-bound tokens");
    if (typeof expiresAt === "number" && expiresAt <= now) fail(400, "expiresAt must be in the future");
    mustBeWithin(caller, kind, expiresAt);
    if (
      expiresAt === null &&
      kind === "user" &&
      caller.credential.kind === "token" &&
      tokens.get(caller.credential.tokenId)?.endsUnusedAt != null
    )
      fail(
        403,
        "Permission denied: the token you are logged in with expires when it is not used; leave expiresAt out, so that this one does too",
      );
    const token = {
      uid,
      kind,
      label: label ?? null,
      allowedDeviceId: allowedDeviceId ?? null,
      expiresAt: expiresAt === undefined ? (ownEnd(caller, kind) ?? undefined) : expiresAt,
      firstUseWithinMs,
    };
    return { token: tokens.make(token, now) };
  },
});

/** A token must not give more rights than its creator has. */
function mustBeWithin(caller: Caller, kind: TokenKind, expiresAt: number | null | undefined): void {
  // The capabilities of services differ from those of their owner, and may grow later.
  if (kind === "service" && !isRoot(caller)) fail(403, "Permission denied: only root can create service tokens");
  const end = ownEnd(caller, kind);
  if (end !== null && expiresAt !== undefined && (expiresAt === null || expiresAt > end)) {
    fail(403, "Permission denied: a user token cannot outlive the token you are logged in with; log in with your password to create it");
  }
}

/** When the caller's own token ends, if that limits the new token; null if not. */
function ownEnd(caller: Caller, kind: TokenKind): number | null {
  return kind === "user" && caller.credential.kind === "token" ? caller.credential.expiresAt : null;
}
