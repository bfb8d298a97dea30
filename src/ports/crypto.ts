// Randomness and hashes. Tests seed it, so nothing else may produce a random byte.

export type ScryptParams = { cost: number; blockSize: number; parallelization: number; length: number };

export type KeyPair = { privateKey: Uint8Array; publicKey: Uint8Array };

export interface Crypto {
  randomBytes(length: number): Uint8Array;
  uuid(): string;
  sha256(data: string | Uint8Array): Uint8Array;
  /** The same for large data; yields to the event loop in between. */
  sha256Async(data: Uint8Array): Promise<Uint8Array>;
  /** The same for data that arrives in pieces. */
  newSha256(): { update(bytes: Uint8Array): unknown; hex(): string };
  scrypt(password: string, salt: Uint8Array, params: ScryptParams): Promise<Uint8Array>;
  /** Keys on the curve P-256, as raw bytes: 32 of the private key, 65 of the public key as an uncompressed point. */
  makeKeyPair(): KeyPair;
  /** The shared secret of ECDH. Throws if the public key is no point of the curve. */
  deriveSharedSecret(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array;
  /** An ECDSA signature with SHA-256: 64 bytes. */
  sign(privateKey: Uint8Array, data: Uint8Array): Promise<Uint8Array>;
  hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array;
  /** The ciphertext with its tag of 16 bytes at the end. */
  encryptAes128Gcm(key: Uint8Array, nonce: Uint8Array, data: Uint8Array): Uint8Array;
  /** Encrypts a secret at rest. Only this gateway's own key opens it, and only for the same purpose. */
  seal(purpose: string, text: string): string;
  /** Throws UnsealError if the key or the purpose does not match. */
  unseal(purpose: string, sealed: string): string;
}

/** A sealed text that this gateway's key does not open: sealed with another, for another purpose, by a newer GSV, or damaged. */
export class UnsealError extends Error {
  constructor(message = "Sealed with another key or for another purpose, or damaged") {
    super(message);
    this.name = "UnsealError";
  }
}
