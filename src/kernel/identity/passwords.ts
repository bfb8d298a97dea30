// Password hashes: scrypt, with its parameters in the stored string. Hashing is slow on purpose, so only a few hashes run at once,
// and none for a caller that disconnected while it waited.

import { fromBase64, toBase64 } from "../../lib/base64.ts";
import { areBytesEqual } from "../../lib/equal-bytes.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Crypto, ScryptParams } from "../../ports/crypto.ts";
import { LIMITS } from "../../protocol/limits.ts";

const COST_LOG2 = 15;
const PARAMS: ScryptParams = { cost: 2 ** COST_LOG2, blockSize: 8, parallelization: 1, length: 32 };
const SALT_BYTES = 16;
const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$/;

export class Passwords {
  readonly #crypto: Crypto;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(crypto: Crypto) {
    this.#crypto = crypto;
  }

  /** `name` is the argument that held the password, for the error message. */
  checkLength(password: string, name: string): void {
    if (password.trim().length < LIMITS.passwordChars) fail(400, `${name} must be at least ${LIMITS.passwordChars} characters`);
    if (new TextEncoder().encode(password).length > LIMITS.passwordBytes)
      fail(400, `${name} must be at most ${LIMITS.passwordBytes} bytes`);
  }

  async hash(password: string, signal: AbortSignal): Promise<string> {
    const salt = this.#crypto.randomBytes(SALT_BYTES);
    const key = await this.#runLimited(signal, () => this.#crypto.scrypt(password, salt, PARAMS));
    return `$scrypt$ln=${COST_LOG2},r=${PARAMS.blockSize},p=${PARAMS.parallelization}$${toBase64(salt)}$${toBase64(key)}`;
  }

  /** If `stored` is null (nobody can log in to the account), this returns false and takes just as long. */
  async verify(password: string, stored: string | null, signal: AbortSignal): Promise<boolean> {
    const parsed = stored === null ? null : STORED.exec(stored);
    const salt = parsed ? fromBase64(parsed[4]!) : this.#crypto.randomBytes(SALT_BYTES);
    const expected = parsed ? fromBase64(parsed[5]!) : new Uint8Array(PARAMS.length);
    const params = parsed
      ? { cost: 2 ** Number(parsed[1]), blockSize: Number(parsed[2]), parallelization: Number(parsed[3]), length: expected.length }
      : PARAMS;
    if (password.length > LIMITS.passwordBytes) return false;
    const key = await this.#runLimited(signal, () => this.#crypto.scrypt(password, salt, params));
    return areBytesEqual(key, expected) && parsed !== null;
  }

  async #runLimited<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#running < LIMITS.passwordHashesAtOnce) this.#running++;
    else await new Promise<void>((start) => this.#waiting.push(start));
    try {
      if (signal.aborted) fail(503, "The caller has disconnected");
      return await work();
    } finally {
      // The slot goes directly to the next in the queue, so that a new caller cannot overtake it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
