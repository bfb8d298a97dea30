// Whether this caller may use that name at all. Decided before the request is looked at any further. Strangers learn nothing
// of which names there are; whoever is logged in is told of a name that does not exist, and not that it is forbidden.

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
    if (call?.from.includes("stranger") !== true) return isSetupMode() ? setupRequired() : fail(403, "Must call sys.connect first");
    if (call.when === "setup" && !isSetupMode()) fail(409, "System already initialized");
    return call;
  }
  if (call === undefined) fail(404, `Unknown syscall: ${name}`);
  if (call.from.includes("stranger")) fail(409, "Already connected");
  if (!allows(caller.capabilities, name)) fail(403, `Permission denied: ${name}`);
  return call;
}

export function setupRequired(): never {
  fail(425, "Setup required", { setupMode: true, next: "sys.setup" });
}

/** Nobody hands on more than they have. */
export function mustCover(caller: Caller, capabilities: readonly string[]): void {
  if (!covers(caller.capabilities, capabilities)) fail(403, "Permission denied: cannot give more than you may do yourself");
}
