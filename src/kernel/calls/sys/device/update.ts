// Sets the description of a device.

import { z } from "zod";
import { DeviceId, DeviceRecord } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.update",
  doc: "Say what a device is for, in words that people and agents choose targets by, of which the first 500 characters are kept. Its owner and root may; null where there is none, or none that the caller may use.",
  runs: "kernel",
  does: "write",
  changes: "devices",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId, description: z.string() }),
  result: z.object({ device: DeviceRecord.nullable() }),
  fails: {
    403: "a device the caller may use and not manage",
    409: "the id means, or meant before, devices of several others: say OWNER@ID",
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
    const key = devices.toManage(caller, deviceId);
    if (key === null) return { device: null };
    devices.describe(key, description);
    return { device: devices.details(caller, key) ?? null };
  },
});
