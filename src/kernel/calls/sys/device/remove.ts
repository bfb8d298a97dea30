// Removes a device.

import { z } from "zod";
import { DeviceId } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.remove",
  doc: "Forget a device: its description, the groups that may use it, what agents were allowed there beyond one call, and that it was ever there. Its connection is closed. With its token it can come back as a new device; revoke that first to keep it away.",
  runs: "kernel",
  does: "write",
  changes: "devices",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId }),
  result: z.object({ removed: z.boolean() }),
  fails: {
    403: "a device the caller may use and not manage",
    409: "the id means, or meant before, devices of several others: say OWNER@ID",
  },
  example: { args: { deviceId: "old-laptop" }, result: { removed: true } },
  run({ devices, connections, approvals, emit, after, now }, caller, { deviceId }) {
    const key = devices.toManage(caller, deviceId);
    if (key === null) return { removed: false };
    const driver = devices.driverOf(key);
    const holders = approvals.revokeFor(devices.namesInGrants(key), now);
    devices.remove(key);
    after(() => {
      for (const uid of holders) emit.announceChanges(uid, ["grants"]);
    });
    if (driver !== null) connections.close([driver], 1008, "Device removed");
    return { removed: true };
  },
});
