// Where a hardware call runs: here, or on a device. Work never falls back to another target than the one that was named,
// and a command that runs is asked after where it runs.

import { fail } from "../lib/sys-error.ts";
import { type Caller, isRoot } from "../protocol/caller.ts";
import { NATIVE } from "../lib/target.ts";
import type { Syscall } from "./calls/define.ts";
import type { ReadContext } from "./context.ts";

/** What every hardware call may say of where it runs, beside its own arguments. */
export type HardwareArgs = Record<string, unknown> & { target?: string; sessionId?: string };

/** Said with every refusal of a key, none of which has changed anything: the same call without it is taken. */
export const TAKES_NO_KEY = { takesKey: false };

/** What the gateway's own target did cannot be stored in the transaction that made it true: better no promise than a broken one. */
export function refuseKey({ name, does }: { name: string; does: string }, { key }: { key?: string }): void {
  if (key !== undefined && does !== "read")
    fail(400, `${name} on gsv takes no key: read what is there before you send it again`, TAKES_NO_KEY);
}

/** A device by its key, and what the caller calls it. The key is NO_DEVICE for one that the caller may not use. */
export type Target = { key: string; name: string };
export const NO_DEVICE = "";

/** The device a call runs on; null for the gateway itself. The one place that decides it. */
export function targetOf(
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
    // To others than its owner a session does not exist. The gateway's own shell says so itself; a device does not know whose
    // its sessions are, so it is not asked. Root sees all of them, and may go on with them where it says on which device.
    if (sessionId !== undefined && named !== null && !isRoot(caller)) fail(404, `Unknown session on ${named}: ${sessionId}`);
    return named === null ? null : { key: devices.find(caller, named) ?? NO_DEVICE, name: named };
  }
  const { deviceId: key, target: name } = session;
  // By the name it had when the command was started, or by the one it has now.
  if (target !== undefined && target !== name && (named === null || devices.find(caller, named) !== key))
    fail(400, `Session ${sessionId} runs on ${name}, not on ${target}`);
  return { key, name };
}
