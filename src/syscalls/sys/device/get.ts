// Describes a device.

import { z } from "zod";
import { DeviceId, DeviceRecord } from "../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.get",
  doc: "Describe one device. null where there is none, or none that the caller may use.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId }),
  result: z.object({ device: DeviceRecord.nullable() }),
  fails: {},
  example: {
    args: { deviceId: "macbook" },
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
  run({ devices }, caller, { deviceId }) {
    return { device: devices.mayUse(caller, deviceId) ? (devices.details(deviceId) ?? null) : null };
  },
});
