// Randomness and hashes. Tests seed it, so nothing else may produce a random byte.

export type ScryptParams = { cost: number; blockSize: number; parallelization: number; length: number };

export interface Crypto {
  randomBytes(length: number): Uint8Array;
  uuid(): string;
  sha256(data: string | Uint8Array): Uint8Array;
  /** The same for large data; yields to the event loop in between. */
  sha256Async(data: Uint8Array): Promise<Uint8Array>;
  /** The same for data that arrives in pieces. */
  newSha256(): { update(bytes: Uint8Array): unknown; hex(): string };
  scrypt(password: string, salt: Uint8Array, params: ScryptParams): Promise<Uint8Array>;
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
