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
  open(purpose: string, sealed: string): string;
}
