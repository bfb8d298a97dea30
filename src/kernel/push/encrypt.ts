// Encrypts a push message for one browser: RFC 8291, with the content coding aes128gcm (RFC 8188) in a single record. The push service
// sees neither the text nor, within steps of a kilobyte, its length.

import { concat } from "../../lib/bytes.ts";
import type { Crypto } from "../../ports/crypto.ts";

/** The keys of a subscription, as bytes. */
export type Receiver = { publicKey: Uint8Array; authSecret: Uint8Array };
/** What is made anew for each message. */
export type OneTime = { privateKey: Uint8Array; publicKey: Uint8Array; salt: Uint8Array };

type Primitives = Pick<Crypto, "makeKeyPair" | "randomBytes" | "deriveSharedSecret" | "hmacSha256" | "encryptAes128Gcm">;

export const POINT_BYTES = 65;
export const AUTH_BYTES = 16;
const SALT_BYTES = 16;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of what push services must accept, 4096 bytes, after the header and the tag. */
const PLAIN_BYTES_MAX = 4096 - (SALT_BYTES + 4 + 1 + POINT_BYTES) - TAG_BYTES - 1;
const STEP_BYTES = 1024;
/** The end of the last record, before the padding. */
const LAST_RECORD = 2;

/** The longest text that fits, in bytes. */
export const MESSAGE_BYTES_MAX = Math.floor((PLAIN_BYTES_MAX + 1) / STEP_BYTES) * STEP_BYTES - 1;

/** The last two arguments are for the example of the standard. */
export function encryptMessage(
  crypto: Primitives,
  receiver: Receiver,
  plain: Uint8Array,
  { privateKey, publicKey, salt }: OneTime = { ...crypto.makeKeyPair(), salt: crypto.randomBytes(SALT_BYTES) },
  stepBytes = STEP_BYTES,
): Uint8Array {
  const secret = crypto.deriveSharedSecret(privateKey, receiver.publicKey);
  const about = concat([encode("WebPush: info\0"), receiver.publicKey, publicKey]);
  const input = deriveKey(crypto, receiver.authSecret, secret, about, 32);
  const key = deriveKey(crypto, salt, input, encode("Content-Encoding: aes128gcm\0"), KEY_BYTES);
  const nonce = deriveKey(crypto, salt, input, encode("Content-Encoding: nonce\0"), NONCE_BYTES);
  const record = new Uint8Array(Math.ceil((plain.length + 1) / stepBytes) * stepBytes);
  record.set(plain);
  record[plain.length] = LAST_RECORD;
  const header = new Uint8Array(SALT_BYTES + 4 + 1);
  header.set(salt);
  new DataView(header.buffer).setUint32(SALT_BYTES, 4096);
  header[SALT_BYTES + 4] = POINT_BYTES;
  return concat([header, publicKey, crypto.encryptAes128Gcm(key, nonce, record)]);
}

/** HKDF (RFC 5869) for outputs of at most one block. */
function deriveKey({ hmacSha256 }: Primitives, salt: Uint8Array, input: Uint8Array, info: Uint8Array, length: number): Uint8Array {
  return hmacSha256(hmacSha256(salt, input), concat([info, Uint8Array.of(1)])).slice(0, length);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
