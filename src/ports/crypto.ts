// Randomness and hashes. Seeded in tests, so nothing else may produce a random byte.

export type ScryptParams = { cost: number; blockSize: number; parallelization: number; length: number };

export interface Crypto {
  bytes(length: number): Uint8Array;
  uuid(): string;
  sha256(data: string | Uint8Array): Uint8Array;
  /** The same of what may be large: others have their turn meanwhile. */
  sha256Slowly(data: Uint8Array): Promise<Uint8Array>;
  /** The same of what comes in pieces. */
  sha256Pieces(): { update(bytes: Uint8Array): unknown; hex(): string };
  scrypt(password: string, salt: Uint8Array, params: ScryptParams): Promise<Uint8Array>;
  /** Secrets at rest: only this gateway's own key opens what it sealed, and only for the same purpose. */
  seal(purpose: string, text: string): string;
  /** Throws UnsealError where it does not. */
  open(purpose: string, sealed: string): string;
}

/** A sealed text that this gateway's key does not open: sealed with another, for another purpose, by a newer GSV, or damaged. */
export class UnsealError extends Error {
  constructor(message = "Sealed with another key or for another purpose, or damaged") {
    super(message);
    this.name = "UnsealError";
  }
}
