// The door before everything that a gateway without a user lets strangers do: open where only this machine can reach it,
// else opened by the code that its console shows or its operator chose.

import { equalBytes } from "../../lib/equal-bytes.ts";
import { fail } from "../../lib/sys-error.ts";
import type { EffectContext } from "../context.ts";

/** What the Node host prints has 14, of which 12 are random. */
const LONG_CODE_CHARS = 12;

const CODE_REQUIRED = "Setup code required: pass the code that the gateway printed on its console, or that its operator chose";

export function mustMaySetUp(
  { setupAccess, throttle, now }: Pick<EffectContext, "setupAccess" | "throttle" | "now">,
  code: string | undefined,
  address: string,
): void {
  if (setupAccess.open) return;
  if (setupAccess.code === null) fail(403, "Setup is closed: the operator must set a setup code first");
  const given = code?.trim().toUpperCase() ?? "";
  // Whoever says nothing guesses nothing: pages and programs ask first whether there is a door at all.
  if (given === "") fail(403, CODE_REQUIRED);
  const encoder = new TextEncoder();
  const isRight = equalBytes(encoder.encode(given), encoder.encode(setupAccess.code));
  // As with tokens: a long one cannot be guessed, and whoever has it must not wait for those who have not. A short one that
  // an operator chose could be.
  if (isRight && setupAccess.code.length >= LONG_CODE_CHARS) return;
  const attempt = throttle.take("sys.setup", address, now);
  if (!isRight) fail(403, CODE_REQUIRED);
  throttle.succeeded(attempt, now);
}
