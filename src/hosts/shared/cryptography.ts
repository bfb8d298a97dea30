// The parts of the Crypto port that web push needs (RFC 8291, RFC 8292), over node:crypto and the Web Crypto API, which both platforms
// have. Randomness comes from the caller.

import { Buffer } from "node:buffer";
import { createCipheriv, createECDH, createHmac } from "node:crypto";
import { fromHex } from "../../lib/hex.ts";
import type { Crypto } from "../../ports/crypto.ts";

const CURVE = "prime256v1";
const KEY_BYTES = 32;
/** What stands before the 32 bytes of a P-256 private key in PKCS #8, without the public key, which the platform computes. */
const PKCS8_PREFIX = fromHex("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420");

export function makeCryptography(
  randomBytes: (length: number) => Uint8Array,
): Pick<Crypto, "makeKeyPair" | "deriveSharedSecret" | "sign" | "hmacSha256" | "encryptAes128Gcm"> {
  return {
    makeKeyPair() {
      const ecdh = createECDH(CURVE);
      const privateKey = randomBytes(KEY_BYTES);
      // Of 2^32 keys about one is not below the order of the curve.
      ecdh.setPrivateKey(privateKey);
      return { privateKey, publicKey: new Uint8Array(ecdh.getPublicKey()) };
    },
    deriveSharedSecret(privateKey, publicKey) {
      const ecdh = createECDH(CURVE);
      ecdh.setPrivateKey(privateKey);
      return new Uint8Array(ecdh.computeSecret(publicKey));
    },
    async sign(privateKey, data) {
      const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
      const pkcs8 = Buffer.concat([PKCS8_PREFIX, privateKey]);
      const key = await crypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]);
      return new Uint8Array(await crypto.subtle.sign(algorithm, key, Buffer.concat([data])));
    },
    hmacSha256: (key, data) => new Uint8Array(createHmac("sha256", key).update(data).digest()),
    encryptAes128Gcm(key, nonce, data) {
      const cipher = createCipheriv("aes-128-gcm", key, nonce);
      return new Uint8Array(Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]));
    },
  };
}
