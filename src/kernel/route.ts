// Where a hardware call runs: here, or on a device. Work never falls back to another target than the one that was named.

import { fail } from "../lib/sys-error.ts";
import { type Caller, isRoot } from "../protocol/caller.ts";
import type { DeviceReads } from "./nouns/devices.ts";

export const NATIVE = "gsv";

/** Returns for the native target; fails for a device, none of which can be reached before there are device routes. */
export function route(devices: DeviceReads, caller: Caller, target: string | undefined): void {
  if (target === undefined || target === NATIVE) return;
  const device = devices.get(target);
  // Somebody else's device and none at all are told alike.
  if (!isRoot(caller) && device?.ownerUid !== caller.uid) fail(403, `Access denied to device: ${target}`);
  if (device === undefined || !device.online) fail(503, `Device offline: ${target}`);
  fail(503, `No active connection for device: ${target}`);
}
