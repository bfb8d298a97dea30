// The few Node APIs that the Workers runtime has under nodejs_compat and that ../shared/crypto.ts and cryptography.ts use. Workers' types leave them
// out, and Node's own types would let this host compile against APIs that do not exist there.

/** A module that the deployment compiles: the runtime compiles none. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "node:buffer" {
  export class Buffer extends Uint8Array<ArrayBuffer> {
    static from(text: string, encoding?: "utf8" | "base64"): Buffer;
    static from(bytes: readonly number[]): Buffer;
    static concat(parts: readonly Uint8Array[]): Buffer;
    override subarray(start?: number, end?: number): Buffer;
    override toString(encoding?: "utf8" | "base64"): string;
  }
}

declare module "node:crypto" {
  import type { Buffer } from "node:buffer";

  interface Cipher {
    setAAD(bytes: Uint8Array): this;
    update(text: string, encoding: "utf8"): Buffer;
    update(bytes: Uint8Array): Buffer;
    final(): Buffer;
    getAuthTag(): Buffer;
  }

  interface Decipher {
    setAAD(bytes: Uint8Array): this;
    setAuthTag(tag: Uint8Array): this;
    update(bytes: Uint8Array): Buffer;
    final(): Buffer;
  }

  interface Hash {
    update(data: string | Uint8Array): this;
    digest(): Buffer;
  }

  interface Ecdh {
    setPrivateKey(key: Uint8Array): void;
    getPublicKey(): Buffer;
    computeSecret(publicKey: Uint8Array): Buffer;
  }

  interface Hmac {
    update(data: Uint8Array): this;
    digest(): Buffer;
  }

  export function createCipheriv(algorithm: "aes-256-gcm" | "aes-128-gcm", key: Uint8Array, iv: Uint8Array): Cipher;
  export function createDecipheriv(algorithm: "aes-256-gcm", key: Uint8Array, iv: Uint8Array): Decipher;
  export function createECDH(curve: "prime256v1"): Ecdh;
  export function createHmac(algorithm: "sha256", key: Uint8Array): Hmac;
  export function createHash(algorithm: "sha256"): Hash;
  export function randomBytes(length: number): Buffer;
  export function randomUUID(): string;
  export function scrypt(
    password: string,
    salt: Uint8Array,
    length: number,
    options: { N: number; r: number; p: number; maxmem: number },
    done: (error: Error | null, key: Buffer) => void,
  ): void;
}
