// Sets the description of a device.

import { z } from "zod";
import { DeviceId, DeviceRecord } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.update",
  doc: "Set a device's description, by which people and agents choose targets; the first 500 characters are kept. Only its owner and root may; null if the device does not exist or the caller may not use it.",
  runs: "kernel",
  does: "write",
  changes: "devices",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId, description: z.string() }),
  result: z.object({ device: DeviceRecord.nullable() }),
  fails: {
    403: "the caller may use the device but not manage it",
    409: "the id names, or has named, devices of several other users: use OWNER@ID",
  },
  example: {
    args: { deviceId: "macbook", description: "my laptop" },
    result: {
      device: {
        deviceId: "macbook",
        ownerUid: 1000,
        description: "my laptop",
        platform: "darwin",
        version: "0.1.0",
        online: true,
        lastSeenAt: 1763200000000,
        implements: ["fs.*", "shell.exec"],
        firstSeenAt: 1763100000000,
        connectedAt: 1763200000000,
        disconnectedAt: null,
      },
    },
  },
  run({ devices }, caller, { deviceId, description }) {
    const key = devices.findManageableKey(caller, deviceId);
    if (key === null) return { device: null };
    devices.setDescription(key, description);
    return { device: devices.details(caller, key) ?? null };
  },
});
