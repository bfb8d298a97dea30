// How the gateway identifies itself to a push service: VAPID (RFC 8292), a token signed with the key that browsers subscribed with.

import { toBase64Url } from "../../lib/base64.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { PushKeys } from "../nouns/push-subscriptions.ts";

/** At most 24 hours are allowed; clocks differ. */
const VALID_MS = 12 * 60 * 60 * 1000;

/** `contact` is whom the push service may look for: an https address or a mailbox. */
export async function makeAuthorization(
  crypto: Pick<Crypto, "sign">,
  { publicKey, privateKey }: Pick<PushKeys, "publicKey" | "privateKey">,
  { endpoint, contact, now }: { endpoint: string; contact: string; now: number },
): Promise<string> {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor((now + VALID_MS) / 1000), sub: contact };
  const text = `${encodeJson({ typ: "JWT", alg: "ES256" })}.${encodeJson(claims)}`;
  const signature = await crypto.sign(privateKey, new TextEncoder().encode(text));
  return `vapid t=${text}.${toBase64Url(signature)}, k=${toBase64Url(publicKey)}`;
}

/** What root has set, or the gateway's own address. Some services accept nothing but an address that could be public. */
export function findContact(chosen: string | undefined, origin: string): string {
  if (chosen !== undefined && /^(?:https:\/\/|mailto:)\S+$/.test(chosen)) return chosen;
  return origin.startsWith("https:") ? origin : "mailto:gsv@localhost";
}

function encodeJson(value: object): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}
