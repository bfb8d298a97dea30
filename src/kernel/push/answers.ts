// Proofs that an answer to a question comes from a browser that was pushed this question. Each proof is for one browser, question and
// decision, so nothing needs to be stored: it is void as soon as the question is closed or the browser's subscription is gone.

import { areBytesEqual } from "../../lib/equal-bytes.ts";
import { fromBase64Url, toBase64Url } from "../../lib/base64.ts";
import type { Crypto } from "../../ports/crypto.ts";

export type Answer = { subscriptionId: string; requestId: string; decision: "approve" | "deny" };

export function makeProof(crypto: Pick<Crypto, "hmacSha256">, answerKey: Uint8Array, answer: Answer): string {
  return toBase64Url(computeProof(crypto, answerKey, answer));
}

export function isProofOf(crypto: Pick<Crypto, "hmacSha256">, answerKey: Uint8Array, answer: Answer, proof: string): boolean {
  return areBytesEqual(computeProof(crypto, answerKey, answer), fromBase64Url(proof) ?? new Uint8Array());
}

function computeProof(
  crypto: Pick<Crypto, "hmacSha256">,
  answerKey: Uint8Array,
  { subscriptionId, requestId, decision }: Answer,
): Uint8Array {
  return crypto.hmacSha256(answerKey, new TextEncoder().encode(JSON.stringify([subscriptionId, requestId, decision])));
}
