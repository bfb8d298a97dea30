// Decides where a hardware call runs: on the gateway or on a device. A call never falls back to a target other than the one it
// names, and a running command is polled where it runs.

import { fail } from "../lib/sys-error.ts";
import { type Caller, isRoot } from "../protocol/caller.ts";
import { NATIVE } from "../lib/target.ts";
import type { Syscall } from "./calls/define.ts";
import type { ReadContext } from "./context.ts";

/** The arguments by which a hardware call says where it runs, besides its own. */
export type HardwareArgs = Record<string, unknown> & { target?: string; sessionId?: string };

/** The details of every error that refuses a key. Nothing was changed, and the same call without a key is accepted. */
export const TAKES_NO_KEY = { takesKey: false };

/** The result of a call on the gateway's own target cannot be stored in the transaction that made it true, so a key is refused. */
export function mustHaveNoKey({ name, does }: { name: string; does: string }, { key }: { key?: string }): void {
  if (key !== undefined && does !== "read") fail(400, `${name} on gsv takes no key: check what happened before you retry`, TAKES_NO_KEY);
}

/** A device by its key, and the name by which the caller knows it. The key is NO_DEVICE if the caller may not use the device. */
export type Target = { key: string; name: string };
export const NO_DEVICE = "";

/** The device a call runs on; null for the gateway itself. Nothing else decides this. */
export function resolveTargetDevice(
  { devices, shellSessions, now }: ReadContext,
  caller: Caller,
  call: Pick<Syscall, "runs">,
  args: HardwareArgs,
): Target | null {
  if (call.runs !== "hardware") return null;
  const { target, sessionId } = args;
  const named = target === undefined || target === NATIVE ? null : target;
  const session = sessionId === undefined ? undefined : shellSessions.get(sessionId, now);
  if (session === undefined || session.uid !== caller.uid) {
    // A session exists only for its owner. The gateway's own shell checks that itself; a device does not know who owns its
    // sessions, so the call is not forwarded. Root sees all sessions, and may use one if it names the device.
    if (sessionId !== undefined && named !== null && !isRoot(caller)) fail(404, `Unknown session on ${named}: ${sessionId}`);
    return named === null ? null : { key: devices.findKey(caller, named) ?? NO_DEVICE, name: named };
  }
  const { deviceId: key, target: name } = session;
  // The device may be named as it was when the command started, or as it is now.
  if (target !== undefined && target !== name && (named === null || devices.findKey(caller, named) !== key))
    fail(400, `Session ${sessionId} runs on ${name}, not on ${target}`);
  return { key, name };
}
