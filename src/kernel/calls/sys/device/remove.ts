// Removes a device.

import { z } from "zod";
import { DeviceId } from "../../../../protocol/records.ts";
import { forgetAbsence } from "../../../devices/device-absence.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.remove",
  doc: "Remove a device with its description, the groups that may use it and the grants for agents on it. Its connection is closed. With its token it can connect again as a new device; revoke the token first to prevent that.",
  runs: "kernel",
  does: "write",
  changes: "devices",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId }),
  result: z.object({ removed: z.boolean() }),
  fails: {
    403: "the caller may use the device but not manage it",
    409: "the id names, or has named, devices of several other users: use OWNER@ID",
  },
  example: { args: { deviceId: "old-laptop" }, result: { removed: true } },
  run(nouns, caller, { deviceId }) {
    const { devices, connections, approvals, emit, after, now } = nouns;
    const key = devices.findManageableKey(caller, deviceId);
    if (key === null) return { removed: false };
    const driver = devices.connectionIdOf(key);
    const holders = approvals.revokeGrantsForDevice(devices.namesInGrants(key), now);
    forgetAbsence(nouns, devices.get(key)!.ownerUid, key);
    devices.remove(key);
    after(() => {
      for (const uid of holders) emit.announceChanges(uid, ["grants"]);
    });
    if (driver !== null) connections.close([driver], 1008, "Device removed");
    return { removed: true };
  },
});
