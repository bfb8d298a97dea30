// The Crypto port over node:crypto, which workerd has too, with the gateway's own key for secrets at rest. Each host decides
// where that key comes from; nothing else here may depend on a platform.

import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID, scrypt } from "node:crypto";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { toHex } from "../../lib/hex.ts";
import { makeCryptography } from "./cryptography.ts";
import { type Crypto, type ScryptParams, UnsealError } from "../../ports/crypto.ts";

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** A few milliseconds of hashing. */
const SLICE_BYTES = 2 * 1024 * 1024;

/** `key` is 32 bytes. */
export function makeNodeCrypto(key: Uint8Array): Crypto {
  return {
    randomBytes: makeRandomBytes,
    ...makeCryptography(makeRandomBytes),
    uuid: () => randomUUID(),
    sha256: (data) => new Uint8Array(createHash("sha256").update(data).digest()),
    sha256Async: hashInSlices,
    newSha256: makeHasher,
    scrypt: (password, salt, params) => derive(password, salt, params),
    seal(purpose, text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), iv, cipher.getAuthTag(), sealed]).toString("base64");
    },
    unseal(purpose, sealed) {
      const bytes = Buffer.from(sealed, "base64");
      if (bytes[0] !== VERSION) throw new UnsealError("Sealed by a newer GSV, or damaged");
      const iv = bytes.subarray(1, 1 + IV_BYTES);
      const tag = bytes.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(purpose)).setAuthTag(tag);
        return Buffer.concat([decipher.update(bytes.subarray(1 + IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
      } catch {
        throw new UnsealError();
      }
    },
  };
}

function makeRandomBytes(length: number): Uint8Array {
  return new Uint8Array(randomBytes(length));
}

/** For both ends of a body, on any host with node:crypto. */
export function makeHasher(): { update(bytes: Uint8Array): unknown; hex(): string } {
  const hash = createHash("sha256");
  return { update: (bytes) => hash.update(bytes), hex: () => toHex(hash.digest()) };
}

async function hashInSlices(data: Uint8Array): Promise<Uint8Array> {
  const hash = createHash("sha256");
  for (let at = 0; at < data.length; at += SLICE_BYTES) {
    if (at > 0) await yieldToEventLoop();
    hash.update(data.subarray(at, at + SLICE_BYTES));
  }
  return new Uint8Array(hash.digest());
}

function derive(password: string, salt: Uint8Array, { cost, blockSize, parallelization, length }: ScryptParams): Promise<Uint8Array> {
  const maxmem = 256 * cost * blockSize;
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, { N: cost, r: blockSize, p: parallelization, maxmem }, (error, key) =>
      error ? reject(error) : resolve(new Uint8Array(key)),
    );
  });
}
