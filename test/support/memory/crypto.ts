// The Crypto port from a seed: sha256 is real, randomness is not, and scrypt is replaced by a quick hash that takes as much
// virtual time as the world says. Never use it outside tests: its seal is a toy.

import { createHash } from "node:crypto";
import { makeHasher } from "../../../src/hosts/shared/crypto.ts";
import { makeCryptography } from "../../../src/hosts/shared/cryptography.ts";
import { type Crypto, type ScryptParams, UnsealError } from "../../../src/ports/crypto.ts";
import type { Random } from "./random.ts";

/** `later` delays a finished scrypt key by virtual time. */
export function memoryCrypto(random: Random, later: <T>(value: T) => Promise<T> = (value) => Promise.resolve(value)): Crypto {
  return {
    randomBytes: (length) => random.bytes(length),
    ...makeCryptography((length) => random.bytes(length)),
    uuid: () => uuid(random.bytes(16)),
    sha256,
    sha256Async: async (data) => sha256(data),
    newSha256: makeHasher,
    scrypt: (password, salt, params) => later(quickKey(password, salt, params)),
    seal(purpose, text) {
      const nonce = random.bytes(8);
      const sealed = xorWithKeystream(Buffer.from(text), purpose, nonce);
      return Buffer.concat([nonce, checksum(purpose, text), sealed]).toString("base64");
    },
    unseal(purpose, sealed) {
      const bytes = Buffer.from(sealed, "base64");
      const text = Buffer.from(xorWithKeystream(bytes.subarray(16), purpose, bytes.subarray(0, 8))).toString();
      if (!bytes.subarray(8, 16).equals(checksum(purpose, text))) throw new UnsealError();
      return text;
    },
  };
}

/** Depends on everything that scrypt depends on, so that a wrong parameter still gives a wrong key. */
export function quickKey(password: string, salt: Uint8Array, { cost, blockSize, parallelization, length }: ScryptParams): Uint8Array {
  const seed = Buffer.concat([Buffer.from(`${cost}:${blockSize}:${parallelization}:${password}:`), salt]);
  const key = Buffer.alloc(Math.ceil(length / 32) * 32);
  for (let at = 0; at < key.length; at += 32) key.set(sha256(`${at}:${seed.toString("hex")}`), at);
  return new Uint8Array(key.subarray(0, length));
}

function sha256(data: string | Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(data).digest());
}

function checksum(purpose: string, text: string): Buffer {
  return Buffer.from(sha256(`${purpose}\0${text}`).subarray(0, 8));
}

function xorWithKeystream(bytes: Uint8Array, purpose: string, nonce: Uint8Array): Uint8Array {
  const stream = sha256(`${purpose}\0${Buffer.from(nonce).toString("hex")}`);
  return bytes.map((byte, at) => byte ^ stream[at % stream.length]!);
}

function uuid(bytes: Uint8Array): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
