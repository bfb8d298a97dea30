// A poll of a command whose device is not there. The command's owner is told that it failed to be heard of, and why, as the
// spec has it; nothing else is answered for a device. Whoever would miss output that way waits for the device instead: a
// follower, who counts answers; a call with a key, which may have been carried out before; an agent. To them it is offline,
// as to every other call.

import type { ExecResult } from "../../hardware/exec.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { Req } from "../../protocol/frames.ts";
import type { ReadContext } from "../context.ts";
import type { HardwareArgs, Target } from "../target.ts";

const EXEC = "shell.exec";

/** Null where the device is to be asked, or to be found offline. `target` is where the call was routed to. */
export function answerWithoutDevice(
  { devices, shellSessions, now }: ReadContext,
  caller: Caller,
  { call, key }: Pick<Req, "call" | "key">,
  args: HardwareArgs,
  { key: deviceKey, name }: Target,
): ExecResult | null {
  const { sessionId } = args;
  if (call !== EXEC || sessionId === undefined || !isPoll(args)) return null;
  const session = shellSessions.get(sessionId, now);
  if (session?.uid !== caller.uid || session.deviceId !== deviceKey) return null;
  const lost = (error: string): ExecResult => ({ status: "failed", output: "", error, sessionId });
  const device = devices.details(caller, deviceKey);
  // Told alike, because whether there is such a device is not for everybody to know who has used it once.
  if (device === undefined)
    return lost(`Device gone: ${name} was removed, or is no longer yours to use. How the command ended is not known`);
  const isPatient = args.after !== undefined || key !== undefined || caller.agent !== undefined;
  if (isPatient || device.online) return null;
  return lost(`Device disconnected: ${name}. Whether the command still runs is not known: ask again when the device is back`);
}

/** It only asks for more output. */
function isPoll({ input, signal, resize, until }: HardwareArgs): boolean {
  return input === "" && signal === undefined && resize === undefined && until !== "sent";
}
