// Exchanges a code for a token of the user who has made it.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { IssuedToken } from "../../../../protocol/records.ts";
import type { ReadContext } from "../../../context.ts";
import { failSetupRequired } from "../../../identity/authorize.ts";
import { WRONG_CREDENTIAL } from "../../../identity/login.ts";
import { findValidCode } from "../../../identity/sign-in-code.ts";
import { strangerSyscall } from "../../define.ts";

const TOKEN_MS = 30 * 24 * 60 * 60 * 1000;
/** A token whose value was lost on the way is deleted. */
const FIRST_USE_WITHIN_MS = 60 * 1000;

export default strangerSyscall({
  name: "sys.signin.redeem",
  doc: "Exchange a code of sys.signin.create for a user token of 30 days, which ends no later than the token the code was made with. The code is used up in the same transaction. The token must be used within a minute. The socket stays unauthenticated: call sys.connect next. Wrong codes are counted like wrong tokens.",
  runs: "kernel",
  does: "effect",
  from: ["stranger"],
  grant: [],
  secret: true,
  args: z.object({
    username: z.string().max(256).default(""),
    code: z.string().min(1).max(256),
    label: z.string().trim().max(200).optional(),
  }),
  result: z.object({ token: IssuedToken }),
  fails: {
    401: "the code is not known, used, expired or another user's; the answer does not say which",
    409: "the user has too many tokens that are still valid",
    425: "the gateway has no user yet",
    429: "too many failed attempts; details.retryAfterMs says how long to wait",
  },
  example: {
    args: { username: "alice", code: "(22 characters)", label: "Web desktop: Chrome on Android" },
    result: {
      token: {
        tokenId: "6f1f0f0e-8a44-4f0e-b6f5-0c1d8f2a9b10",
        token: "gsv_user_(43 characters, shown once)",
        tokenPrefix: "gsv_user_Yx3fQ0a",
        uid: 1000,
        kind: "user",
        label: "Web desktop: Chrome on Android",
        allowedRole: "user",
        allowedDeviceId: null,
        createdAt: 1763200000000,
        expiresAt: 1765792000000,
        endsUnusedAt: 1763200060000,
      },
    },
  },
  async run(context, { address }, { username, code, label }) {
    if (context.accounts.isSetupMode()) failSetupRequired();
    const find = (reads: Pick<ReadContext, "signInCodes" | "accounts" | "tokens" | "now">) => findValidCode(reads, { username, code });
    if (find(context) === undefined) {
      // Counted after the lookup, like wrong tokens: a right code is not refused because of others at its address.
      context.throttle.countWrongToken(address, context.now);
      fail(401, WRONG_CREDENTIAL);
    }
    if (context.signal.aborted) fail(503, "The caller has disconnected");
    return context.finish((nouns) => {
      const { tokens, signInCodes, emit, after, now } = nouns;
      const { found, account } = find(nouns) ?? fail(401, WRONG_CREDENTIAL);
      const expiresAt = Math.min(now + TOKEN_MS, found.tokenEndsAt ?? Infinity);
      const { uid } = account;
      const made = { uid, kind: "user" as const, label: label ?? null, allowedDeviceId: null, expiresAt };
      const token = tokens.make({ ...made, firstUseWithinMs: FIRST_USE_WITHIN_MS }, now);
      signInCodes.markUsed(found.codeId, token.tokenId);
      after(() => emit.announceChanges(uid, ["tokens"]));
      return { token };
    });
  },
});
