// Where a hardware call runs: here, or on a device. Work never falls back to another target than the one that was named,
// and a command that runs is asked after where it runs.

import { fail } from "../lib/sys-error.ts";
import type { Caller } from "../protocol/caller.ts";
import type { ReadContext } from "./context.ts";

export const NATIVE = "gsv";

/** What every hardware call may say of where it runs, beside its own arguments. */
export type HardwareArgs = Record<string, unknown> & { target?: string; sessionId?: string };

/** The device, or null for the gateway itself. */
export function route({ shellSessions, now }: ReadContext, caller: Caller, args: HardwareArgs): string | null {
  const { target, sessionId } = args;
  const named = target === undefined || target === NATIVE ? null : target;
  const session = sessionId === undefined ? undefined : shellSessions.get(sessionId, now);
  // To others than its owner a session does not exist, and the gateway's own shell says so.
  if (session === undefined || session.uid !== caller.uid) return named;
  if (target !== undefined && target !== session.deviceId) fail(400, `Session ${sessionId} runs on ${session.deviceId}, not on ${target}`);
  return session.deviceId;
}
