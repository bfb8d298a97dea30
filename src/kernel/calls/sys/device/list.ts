// Lists devices.

import { z } from "zod";
import { isRoot } from "../../../../protocol/caller.ts";
import { DeviceSummary } from "../../../../protocol/records.ts";
import { NO_DEVICE } from "../../../target.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.list",
  doc: "List the devices the caller may use: their own and those shared with their groups; root sees all. Offline devices are included only if includeOffline is true. gids are the groups that may use a device; only its owner and root see them.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ includeOffline: z.boolean().optional() }),
  result: z.object({ devices: z.array(DeviceSummary.extend({ gids: z.array(z.int()).optional() })) }),
  fails: {},
  example: {
    args: { includeOffline: true },
    result: {
      devices: [
        {
          deviceId: "macbook",
          ownerUid: 1000,
          description: "my laptop",
          platform: "darwin",
          version: "0.1.0",
          online: true,
          lastSeenAt: 1763200000000,
          gids: [],
        },
      ],
    },
  },
  run({ devices }, caller, { includeOffline = false }) {
    const visible = devices.list(caller).filter(({ online }) => online || includeOffline);
    return {
      devices: visible.map(({ deviceId, ownerUid, description, platform, version, online, lastSeenAt }) => ({
        deviceId,
        ownerUid,
        description,
        platform,
        version,
        online,
        lastSeenAt,
        ...(isRoot(caller) || ownerUid === caller.uid ? { gids: devices.gidsOf(devices.findKey(caller, deviceId) ?? NO_DEVICE) } : {}),
      })),
    };
  },
});
