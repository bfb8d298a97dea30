// The call function that every screen uses, and the text shown when a call fails, which says what to do.

import { type Arguments, CallError, type CallName, type CallOptions, type CallResult, ConnectionLost } from "../../../src/client/client.ts";
import { client } from "./session.ts";

export type Args<N extends CallName> = Arguments<N>;
export type Result<N extends CallName> = CallResult<N>;

export function call<N extends CallName>(name: N, args: Args<N>, options: CallOptions = {}): Promise<Result<N>> {
  const currentClient = client.peek();
  if (currentClient === null) return Promise.reject(new ConnectionLost(1006, "Nobody is logged in"));
  return currentClient.call(name, args, options);
}

/** The browser does not do what was asked. The message is for the user, and says what they can do. */
export class BrowserRefusal extends Error {}

/** Error messages of the gateway already say what to do; the texts here cover failures that never reached it. */
export function describeError(error: unknown): string {
  if (error instanceof CallError) {
    const wait = (error.details as { retryAfterMs?: number } | undefined)?.retryAfterMs;
    if (error.code === 429 && wait !== undefined) return `Too many attempts. Try again in ${formatWait(wait)}.`;
    if (error.code === 401) return "That name and password do not match. Check both and try again.";
    return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  }
  if (error instanceof ConnectionLost)
    return "The connection ended before the answer came, so it may or may not have been done. Look before you try again.";
  if (error instanceof BrowserRefusal) return error.message;
  return "Something in this page went wrong. Reload it and try again.";
}

function formatWait(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms / 1000));
  if (whole < 90) return whole === 1 ? "a second" : `${whole} seconds`;
  return `${Math.ceil(whole / 60)} minutes`;
}
