// Whether a call may be sent again after a failure. Reads may; writes may under their idempotency key; effects on a device may
// under a key as well, because the device remembers what it ran. For any other pending call it is unknown whether it ran.

import { NATIVE } from "../lib/target.ts";
import { EFFECTS, READS, WRITES } from "./repeatable.ts";
import { CallError, ConnectionLost } from "./connection.ts";

/** How long a gateway or a device remembers a key, minus a margin: later the same call would run a second time. */
const KEY_MS = 23 * 60 * 60 * 1000;
/** How long to wait for a device that disconnected during a call: most are back in seconds, and the caller needs an answer. */
const DEVICE_MS = 15_000;
const WAIT_MS_MIN = 250;
const WAIT_MS_MAX = 2_000;

export class RepeatState {
  readonly #name: string;
  /** The device it runs on, if its arguments name one and it has effects there. */
  readonly #deviceId: string | null;
  readonly #isOwnKey: boolean;
  readonly #keyless: Set<string>;
  #key: string | undefined;
  #firstAt: number | null = null;
  /** The call may have run already. */
  #isUncertain = false;
  #waitUntil: number | null = null;
  #waitMs = WAIT_MS_MIN;

  /** `keyless`: devices that take no key; shared by all calls of a client. */
  constructor(name: string, args: unknown, options: { key: string | undefined; newKey(): string; keyless: Set<string> }) {
    const { target } = (args ?? {}) as { target?: unknown };
    this.#name = name;
    this.#deviceId = EFFECTS.has(name) && typeof target === "string" && target !== NATIVE ? target : null;
    this.#keyless = options.keyless;
    this.#isOwnKey = options.key === undefined;
    const isKeyed = WRITES.has(name) || (this.#deviceId !== null && !options.keyless.has(this.#deviceId));
    this.#key = options.key ?? (isKeyed ? options.newKey() : undefined);
  }

  get key(): string | undefined {
    return this.#key;
  }

  /** Called before each attempt: why it is too late to send, or null. */
  startAttempt(now: number): Error | null {
    this.#firstAt ??= now;
    if (READS.has(this.#name) || now - this.#firstAt <= KEY_MS) return null;
    return new ConnectionLost(1006, "The connection was lost for too long to retry the call safely");
  }

  /** Called after a failure: how long to wait before the next attempt, or the final error. */
  planRetry(error: unknown, now: number): number | Error {
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
    return this.#isUncertain ? this.#planDeviceRetry(error, now) : error;
  }

  get #isRepeatable(): boolean {
    return READS.has(this.#name) || (this.#key !== undefined && (WRITES.has(this.#name) || this.#deviceId !== null));
  }

  #planDeviceRetry(error: CallError, now: number): number | Error {
    this.#waitUntil ??= now + DEVICE_MS;
    if (now < this.#waitUntil) return (this.#waitMs = Math.min(this.#waitMs * 2, WAIT_MS_MAX));
    // That the device is offline is true, but the caller needs to know that the outcome is unknown.
    const message = `Device disconnected: ${this.#deviceId}. It is not known whether the call ran`;
    return new CallError({ code: 503, message, details: { outcome: "unknown" }, retryable: error.retryable });
  }
}
