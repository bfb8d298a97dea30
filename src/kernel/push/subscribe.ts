// Who may have push messages sent where: checks a browser's subscription, and finds one for its user.

import { fromBase64Url } from "../../lib/base64.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { PushSubscriptionRecord } from "../../protocol/push-records.ts";
import type { PushAddress, PushSubscriptionReads, PushSubscriptionRow } from "../nouns/push-subscriptions.ts";
import { mustBeRemoteUrl } from "../oauth/addresses.ts";
import { AUTH_BYTES, POINT_BYTES } from "./encrypt.ts";

/** What a process knows of its user must not leave for an address that it has chosen. */
export function mustBePerson({ agent }: Caller): void {
  if (agent !== undefined)
    fail(403, "A process cannot decide what interrupts a person, or where push messages go: a person does it in their browser");
}

/** The token with which the browser of the caller has signed in: with it, the subscription ends. */
export function requireBrowserToken({ credential }: Caller): string {
  if (credential.kind !== "token") fail(403, "Only a browser that has signed in with a token can get push messages");
  return credential.tokenId;
}

/** What was accepted here can be encrypted for. */
export function checkAddress(crypto: Pick<Crypto, "makeKeyPair" | "deriveSharedSecret">, { endpoint, p256dh, auth }: PushAddress): void {
  mustBeRemoteUrl(endpoint, "endpoint");
  const point = fromBase64Url(p256dh);
  if (point?.length !== POINT_BYTES || !isPoint(crypto, point))
    fail(400, "keys.p256dh must be an uncompressed point of P-256 in base64url");
  if (fromBase64Url(auth)?.length !== AUTH_BYTES) fail(400, `keys.auth must be ${AUTH_BYTES} bytes in base64url`);
}

function isPoint(crypto: Pick<Crypto, "makeKeyPair" | "deriveSharedSecret">, point: Uint8Array): boolean {
  try {
    crypto.deriveSharedSecret(crypto.makeKeyPair().privateKey, point);
    return true;
  } catch {
    return false;
  }
}

/** Fails with 404 for a subscription of somebody else, as for one that does not exist. */
export function requireOwn(pushSubscriptions: Pick<PushSubscriptionReads, "find">, { uid }: Caller, subscriptionId: string) {
  const found = pushSubscriptions.find(subscriptionId);
  return found?.uid === uid ? found : fail(404, `Push subscription not found: ${subscriptionId}`);
}

export function toRecord(
  { subscriptionId, label, service, level, mayAllow, createdAt, lastSentAt, lastError, tokenId }: PushSubscriptionRow,
  { credential }: Caller,
): PushSubscriptionRecord {
  const isCurrent = credential.kind === "token" && credential.tokenId === tokenId;
  return { subscriptionId, label, service, level, mayAllow, isCurrent, createdAt, lastSentAt, lastError };
}
