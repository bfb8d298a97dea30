// Who may make a code for signing in on another device, and when one still lets somebody in.

import { allows } from "../../lib/capability.ts";
import { fail } from "../../lib/sys-error.ts";
import { isTokenLive } from "../../lib/token-end.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { Account } from "../../protocol/records.ts";
import type { ReadContext } from "../context.ts";
import type { SignInCode } from "../nouns/sign-in-codes.ts";

/** What a code gives is a token, so whoever may not create tokens may not make codes either. No process signs anybody in. */
export function mustBeAbleToSignIn({ agent, capabilities }: Caller): void {
  if (agent !== undefined) fail(403, "A process cannot sign a person in: a person does it in their browser");
  if (!allows(capabilities, "sys.token.create")) fail(403, "Permission denied: sys.token.create");
}

/**
 * The code with this value, if it lets this user in: like the token that it gives, it ends with the token it was made with. Undefined says
 * nothing about what is wrong.
 */
export function findValidCode(
  { signInCodes, accounts, tokens, now }: Pick<ReadContext, "signInCodes" | "accounts" | "tokens" | "now">,
  { username, code }: { username: string; code: string },
): { found: SignInCode; account: Account } | undefined {
  const found = signInCodes.findOpen(code, now);
  const account = found && accounts.findByUid(found.uid);
  if (found === undefined || account === undefined || account.username !== username || account.locked) return undefined;
  const maker = found.madeWith === null ? null : tokens.get(found.madeWith);
  return maker === undefined || (maker !== null && !isTokenLive(maker, now)) ? undefined : { found, account };
}
