// The one door. Sockets pass here, and so will agents' tools, scripts, shell commands and apps: there is no second
// way to run a syscall. Every refusal is one line, and their order is the security argument: a name is judged before
// anything of the request is looked at, so a stranger reaches no parser.

import { fail } from "../lib/sys-error.ts";
import type { Caller, Stranger } from "../protocol/caller.ts";
import type { Req } from "../protocol/frames.ts";
import type { Data } from "../calls/define.ts";
import type { Syscall } from "./calls/define.ts";
import { decode } from "../calls/decode.ts";

/** The result, and what is to happen once it has been sent. `stays`: it is durable elsewhere than in the kernel's rows. */
export type Answer = { data: unknown; after: readonly (() => void)[]; stays?: boolean };

export type Door = {
  table: ReadonlyMap<string, Syscall>;
  /** The call of that name, judged by its name alone: 425, 403, 409, 404. */
  authorize(caller: Caller | Stranger, name: string): Syscall;
  run(call: Syscall, caller: Caller | Stranger, args: Data, frame: Req, signal: () => AbortSignal): Answer | Promise<Answer>;
};

export function pass(door: Door, caller: Caller | Stranger, frame: Req, signal: () => AbortSignal): Answer | Promise<Answer> {
  const call = door.authorize(caller, frame.call);
  if (!call.from.includes(caller.origin)) fail(403, `Permission denied: ${frame.call}`);
  if (call.only === "processes" && !isProcess(caller)) fail(403, `Permission denied: ${frame.call}`);
  const args = decode(call.args, frame.args);
  return door.run(call, caller, args, frame, signal);
}

function isProcess(caller: Caller | Stranger): boolean {
  return caller.origin !== "stranger" && caller.agent !== undefined;
}
