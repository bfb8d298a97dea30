// How the gateway identifies itself to a push service: VAPID (RFC 8292), a token signed with the key that browsers subscribed with.

import { toBase64Url } from "../../lib/base64.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { PushKeys } from "../nouns/push-subscriptions.ts";

/** At most 24 hours are allowed; clocks differ. */
const VALID_MS = 12 * 60 * 60 * 1000;

/** `origin` is the gateway's own address: whom the push service may look for. */
export async function makeAuthorization(
  crypto: Pick<Crypto, "sign">,
  { publicKey, privateKey }: Pick<PushKeys, "publicKey" | "privateKey">,
  { endpoint, origin, now }: { endpoint: string; origin: string; now: number },
): Promise<string> {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor((now + VALID_MS) / 1000), sub: subjectOf(origin) };
  const text = `${encodeJson({ typ: "JWT", alg: "ES256" })}.${encodeJson(claims)}`;
  const signature = await crypto.sign(privateKey, new TextEncoder().encode(text));
  return `vapid t=${text}.${toBase64Url(signature)}, k=${toBase64Url(publicKey)}`;
}

/** An https address or a mailbox: push services accept nothing else. */
function subjectOf(origin: string): string {
  const { protocol, hostname } = new URL(origin);
  return protocol === "https:" ? origin : `mailto:gsv@${/[a-z]/.test(hostname) && !hostname.includes("[") ? hostname : "localhost"}`;
}

function encodeJson(value: object): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}
