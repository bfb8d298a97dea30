// Whether a caller may use a call of this name. Decided before any other part of the request is read. Strangers do not learn which
// names exist; a caller who is logged in gets 404 for a name that does not exist, and 403 only for one that does.

import { allows, covers } from "../../lib/capability.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Caller, Stranger } from "../../protocol/caller.ts";
import type { Syscall } from "../calls/define.ts";

export function authorize(
  table: ReadonlyMap<string, Syscall>,
  isSetupMode: () => boolean,
  caller: Caller | Stranger,
  name: string,
): Syscall {
  const call = table.get(name);
  if (caller.origin === "stranger") {
    if (call?.from.includes("stranger") !== true) return isSetupMode() ? failSetupRequired() : fail(403, "Must call sys.connect first");
    if (call.when === "setup" && !isSetupMode()) fail(409, "System already initialized");
    return call;
  }
  if (call === undefined) fail(404, `Unknown syscall: ${name}`);
  if (call.from.includes("stranger")) fail(409, "Already connected");
  if (!allows(caller.capabilities, name)) fail(403, `Permission denied: ${name}`);
  return call;
}

export function failSetupRequired(): never {
  fail(425, "Setup required", { setupMode: true, next: "sys.setup" });
}

/** Nobody may give others more capabilities than they have themselves. */
export function requireMayDelegate(caller: Caller, capabilities: readonly string[]): void {
  if (!covers(caller.capabilities, capabilities)) fail(403, "Permission denied: cannot give more rights than you have yourself");
}
