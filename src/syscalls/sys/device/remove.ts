// Forgets a device.

import { z } from "zod";
import { DeviceId } from "../../../protocol/records.ts";
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
  fails: { 403: "a device the caller may use and not manage" },
  example: { args: { deviceId: "old-laptop" }, result: { removed: true } },
  run({ devices, connections, approvals, emit, after, now }, caller, { deviceId }) {
    if (devices.toManage(caller, deviceId) === undefined) return { removed: false };
    const driver = devices.driverOf(deviceId);
    devices.remove(deviceId);
    const held = approvals.revokeFor(deviceId, now);
    after(() => {
      for (const uid of held) emit.changed(uid, ["grants"]);
    });
    if (driver !== null) connections.close([driver], 1008, "Device removed");
    return { removed: true };
  },
});
