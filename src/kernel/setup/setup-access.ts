// Guards every call that a gateway without users allows strangers: open if only this machine can reach the gateway, otherwise the
// caller must send the setup code that the console shows or the operator chose.

import { areBytesEqual } from "../../lib/equal-bytes.ts";
import { fail } from "../../lib/sys-error.ts";
import type { EffectContext } from "../context.ts";

/** The code that the Node host prints has 14 characters, of which 12 are random. */
const LONG_CODE_CHARS = 12;

const CODE_REQUIRED = "Setup code required: pass the code that the gateway printed on its console, or that its operator chose";

export function checkMaySetUp(
  { setupAccess, throttle, now }: Pick<EffectContext, "setupAccess" | "throttle" | "now">,
  code: string | undefined,
  address: string,
): void {
  if (setupAccess.open) return;
  if (setupAccess.code === null) fail(403, "Setup is closed: the operator must set a setup code first");
  const givenCode = code?.trim().toUpperCase() ?? "";
  // A call without a code is not a guess, so it is not throttled: clients first ask whether a code is required.
  if (givenCode === "") fail(403, CODE_REQUIRED);
  const encoder = new TextEncoder();
  const isRight = areBytesEqual(encoder.encode(givenCode), encoder.encode(setupAccess.code));
  // As with tokens: a long code cannot be guessed, and a caller who has it must not be throttled because of others who guess. A
  // short code that an operator chose could be guessed.
  if (isRight && setupAccess.code.length >= LONG_CODE_CHARS) return;
  const attempt = throttle.countAttempt("sys.setup", address, now);
  if (!isRight) fail(403, CODE_REQUIRED);
  throttle.recordSuccess(attempt, now);
}
