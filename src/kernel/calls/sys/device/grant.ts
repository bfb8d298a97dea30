// Shares a device with a group.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { DeviceId, Gid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.grant",
  doc: "Let the members of a group use a device: files and commands, with the rights the device's own user has there. Its owner may, with groups they are in, and root with any.",
  runs: "kernel",
  does: "write",
  changes: "devices",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId, gid: Gid }),
  result: z.object({ changed: z.boolean(), gids: z.array(z.int()) }),
  fails: {
    403: "a device the caller may use and not manage",
    404: "no such device, or none the caller may use; no such group, or none the caller is in",
    409: "the id means, or meant before, devices of several others: say OWNER@ID",
  },
  example: { args: { deviceId: "server", gid: 200 }, result: { changed: true, gids: [200] } },
  run({ devices, groups }, caller, { deviceId, gid }) {
    const key = devices.toManage(caller, deviceId) ?? fail(404, `Unknown device: ${deviceId}`);
    // Without this check a user could push devices of any name on people who never asked for them.
    if (groups.get(gid) === undefined || !(isRoot(caller) || caller.gids.includes(gid)))
      fail(404, `Unknown group: ${gid}. A device is shared with a group that you are in; root can share it with any`);
    const changed = devices.grant(key, gid);
    return { changed, gids: devices.groupsOf(key) };
  },
});
