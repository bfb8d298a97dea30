// Whether a call may be sent again after something came in between. Reads may; writes may under their key; what changes
// something on a device may under a key as well, because the device remembers what it did. Of anything else that was under
// way nobody can say whether it was carried out.

import { NATIVE } from "../lib/target.ts";
import { EFFECTS, READS, WRITES } from "./repeatable.ts";
import { CallError, ConnectionLost } from "./connection.ts";

/** For how long a gateway or a device remembers a key, less some: later the same call would be carried out a second time. */
const KEY_MS = 23 * 60 * 60 * 1000;
/** How long a device that dropped a call is waited for: most are back in seconds, and whoever waits wants to know. */
const DEVICE_MS = 15_000;
const WAIT_MS_MIN = 250;
const WAIT_MS_MAX = 2_000;

export class Repeat {
  readonly #name: string;
  /** The device it runs on, where that is told by its arguments. */
  readonly #deviceId: string | null;
  readonly #isOwnKey: boolean;
  readonly #keyless: Set<string>;
  #key: string | undefined;
  #firstAt: number | null = null;
  /** It may have been carried out already. */
  #isUncertain = false;
  #waitUntil: number | null = null;
  #waitMs = WAIT_MS_MIN;

  /** `keyless`: devices that were found to take no key; shared by all calls of a client. */
  constructor(name: string, args: unknown, given: { key: string | undefined; newKey(): string; keyless: Set<string> }) {
    const { target } = (args ?? {}) as { target?: unknown };
    this.#name = name;
    this.#deviceId = EFFECTS.has(name) && typeof target === "string" && target !== NATIVE ? target : null;
    this.#keyless = given.keyless;
    this.#isOwnKey = given.key === undefined;
    const isKeyed = WRITES.has(name) || (this.#deviceId !== null && !given.keyless.has(this.#deviceId));
    this.#key = given.key ?? (isKeyed ? given.newKey() : undefined);
  }

  get key(): string | undefined {
    return this.#key;
  }

  /** Before each sending: why it is too late for it, or null. */
  refusal(now: number): Error | null {
    this.#firstAt ??= now;
    if (READS.has(this.#name) || now - this.#firstAt <= KEY_MS) return null;
    return new ConnectionLost(1006, "The connection was lost for too long to send the call again safely");
  }

  /** After a failure: how long to wait before it is sent again, or the error it ends with. */
  after(error: unknown, now: number): number | Error {
    if (error instanceof ConnectionLost && error.code !== 0 && this.#isRepeatable) {
      this.#isUncertain = true;
      return 0;
    }
    if (!(error instanceof CallError) || this.#deviceId === null || this.#key === undefined) return error as Error;
    const { outcome, takesKey } = (error.details ?? {}) as { outcome?: unknown; takesKey?: unknown };
    if (takesKey === false && this.#isOwnKey && !this.#isUncertain) {
      this.#keyless.add(this.#deviceId);
      this.#key = undefined;
      return 0;
    }
    if (error.code !== 503) return error;
    this.#isUncertain ||= outcome === "unknown";
    return this.#isUncertain ? this.#untilItIsBack(error, now) : error;
  }

  get #isRepeatable(): boolean {
    return READS.has(this.#name) || (this.#key !== undefined && (WRITES.has(this.#name) || this.#deviceId !== null));
  }

  #untilItIsBack(error: CallError, now: number): number | Error {
    this.#waitUntil ??= now + DEVICE_MS;
    if (now < this.#waitUntil) return (this.#waitMs = Math.min(this.#waitMs * 2, WAIT_MS_MAX));
    // That the device is offline now is true, and not what the caller needs to know.
    const message = `Device disconnected: ${this.#deviceId}. Whether the call was carried out is not known`;
    return new CallError({ code: 503, message, details: { outcome: "unknown" }, retryable: error.retryable });
  }
}
