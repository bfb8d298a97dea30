// Stops sharing a device with a group.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { DeviceId, Gid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.revoke",
  doc: "Stop sharing a device with a group. Running calls are not interrupted. Only its owner and root may.",
  runs: "kernel",
  does: "write",
  changes: "devices",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId, gid: Gid }),
  result: z.object({ changed: z.boolean(), gids: z.array(z.int()) }),
  fails: {
    403: "the caller may use the device but not manage it",
    404: "no such device, or the caller may not use it; no such group",
    409: "the id names, or has named, devices of several other users: use OWNER@ID",
  },
  example: { args: { deviceId: "server", gid: 200 }, result: { changed: true, gids: [200] } },
  run({ devices, groups }, caller, { deviceId, gid }) {
    const key = devices.findManageableKey(caller, deviceId) ?? fail(404, `Unknown device: ${deviceId}`);
    if (groups.get(gid) === undefined) fail(404, `Unknown group: ${gid}`);
    const changed = devices.revoke(key, gid);
    return { changed, gids: devices.gidsOf(key) };
  },
});
