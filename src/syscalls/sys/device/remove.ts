// Forgets a device.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { DeviceId } from "../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.remove",
  doc: "Forget a device: its description, the groups that may use it, and that it was ever there. Its connection is closed. With its token it can come back as a new device; revoke that first to keep it away.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId }),
  result: z.object({ removed: z.boolean() }),
  fails: { 403: "a device the caller may use and not manage" },
  example: { args: { deviceId: "old-laptop" }, result: { removed: true } },
  run({ devices, connections }, caller, { deviceId }) {
    const device = devices.mayUse(caller, deviceId) ? devices.get(deviceId) : undefined;
    if (device === undefined) return { removed: false };
    if (!devices.mayManage(caller, device)) fail(403, `Permission denied: ${deviceId} is not yours to remove`);
    const driver = devices.driverOf(deviceId);
    devices.remove(deviceId);
    if (driver !== null) connections.close([driver], 1008, "Device removed");
    return { removed: true };
  },
});
