// Describes a device.

import { z } from "zod";
import { isRoot } from "../../../../protocol/caller.ts";
import { DeviceId, DeviceRecord } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.get",
  doc: "Describe one device; null if it does not exist or the caller may not use it. gids are the groups that may use it, and address is where it connects from, as the gateway sees it; only its owner and root see them.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId }),
  result: z.object({ device: DeviceRecord.nullable(), gids: z.array(z.int()).optional(), address: z.string().nullable().optional() }),
  fails: { 409: "the id names, or has named, devices of several other users: use OWNER@ID" },
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
      gids: [200],
      address: "192.168.1.30",
    },
  },
  run({ devices, connections }, caller, { deviceId }) {
    const key = devices.findKey(caller, deviceId);
    const device = key === null ? undefined : devices.details(caller, key);
    if (key === null || device === undefined) return { device: null };
    if (!isRoot(caller) && device.ownerUid !== caller.uid) return { device };
    const connectionId = devices.connectionIdOf(key);
    const address = connectionId === null ? null : connections.addressOf(connectionId);
    return { device, gids: devices.gidsOf(key), address };
  },
});
