// Authenticates a socket by its credential. Every wrong credential gets the same message, and wrong usernames and wrong passwords
// cost the same time.

import { fail } from "../../lib/sys-error.ts";
import type { Credential } from "../../protocol/caller.ts";
import type { Account, Role } from "../../protocol/records.ts";
import type { EffectContext } from "../context.ts";

export type Proof = { username: string; password?: string | undefined; token?: string | undefined };

/** The message for every wrong credential. The throttle counts each one. */
export const WRONG_CREDENTIAL = "Authentication failed";

export type Login = { account: Account; credential: Exclude<Credential, { kind: "process" }> };

export async function login(
  context: Pick<EffectContext, "accounts" | "tokens" | "throttle" | "passwords" | "signal" | "now">,
  proof: Proof | undefined,
  as: { role: Role; clientId: string; address: string },
): Promise<Login> {
  if (proof === undefined) fail(401, "Authentication required");
  const { username, password, token } = proof;
  if (username === "") fail(401, "Username required");
  if (password !== undefined && token !== undefined) fail(401, "Provide either password or token");
  if (token !== undefined) return loginByToken(context, { username, token }, as);
  if (as.role !== "user") fail(401, "Token required for machine connections");
  if (password === undefined) fail(401, "Password or token required");
  return loginByPassword(context, { username, password }, as.address);
}

export async function loginByPassword(
  { accounts, throttle, passwords, signal, now }: Pick<EffectContext, "accounts" | "throttle" | "passwords" | "signal" | "now">,
  { username, password }: { username: string; password: string },
  address: string,
): Promise<Login> {
  const attempt = throttle.countAttempt(username, address, now);
  const stored = accounts.passwordHashOf(username);
  const isRight = await passwords.verify(password, stored, signal).catch((error: unknown) => {
    throttle.cancel(attempt);
    throw error;
  });
  // The password may have been changed, or the account locked, while the password was hashed.
  const account = accounts.passwordHashOf(username) === stored ? accounts.findByName(username) : undefined;
  if (!isRight || account === undefined) fail(401, WRONG_CREDENTIAL);
  throttle.recordSuccess(attempt, now);
  return { account, credential: { kind: "password" } };
}

function loginByToken(
  { accounts, tokens, throttle, now }: Pick<EffectContext, "accounts" | "tokens" | "throttle" | "now">,
  proof: { username: string; token: string },
  as: { role: Role; clientId: string; address: string },
): Login {
  const token = tokens.findLive(proof.token, now);
  const account = token && accounts.findByUid(token.uid);
  const isValid =
    token !== undefined &&
    account !== undefined &&
    account.username === proof.username &&
    !account.locked &&
    (token.allowedRole === null || token.allowedRole === as.role) &&
    (token.allowedDeviceId === null || as.role !== "driver" || token.allowedDeviceId === as.clientId);
  if (!isValid) {
    throttle.countWrongToken(as.address, now);
    fail(401, WRONG_CREDENTIAL);
  }
  return { account, credential: { kind: "token", tokenId: token.tokenId, expiresAt: token.expiresAt } };
}
