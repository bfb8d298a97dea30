// Answers a poll of a command whose device is offline: as the spec requires, the command's owner receives a failed result with the
// reason. The gateway answers nothing else for a device. Callers that would miss output that way get the "device offline" error of
// every other call and poll again later: a follower, who counts answers; a call with a key, which may have run before; an agent.

import type { ExecResult } from "../../hardware/exec.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { Req } from "../../protocol/frames.ts";
import type { ReadContext } from "../context.ts";
import type { HardwareArgs, Target } from "../target.ts";

const EXEC = "shell.exec";

/** Null if the call must be forwarded, which fails if the device is offline. The last argument is where the call was routed. */
export function answerOfflinePoll(
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
  const failedPoll = (error: string): ExecResult => ({ status: "failed", output: "", error, sessionId });
  const device = devices.details(caller, deviceKey);
  // One message for both cases: a user who has lost access to a device must not learn whether it still exists.
  if (device === undefined)
    return failedPoll(`Device gone: ${name} was removed, or you may no longer use it. It is not known how the command ended`);
  const isPatient = args.after !== undefined || key !== undefined || caller.agent !== undefined;
  if (isPatient || device.online) return null;
  return failedPoll(
    `Device disconnected: ${name}. It is not known whether the command is still running: poll again when the device is back`,
  );
}

/** Whether the call only asks for more output. */
function isPoll({ input, signal, resize, until }: HardwareArgs): boolean {
  return input === "" && signal === undefined && resize === undefined && until !== "sent";
}
