// Shares a device with a group.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { DeviceId, Gid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.device.grant",
  doc: "Let the members of a group use a device: its files and commands, with the rights of the user the device runs as. Its owner can share it with groups they are in, root with any group.",
  runs: "kernel",
  does: "write",
  changes: "devices",
  from: ["user"],
  grant: ["users"],
  args: z.object({ deviceId: DeviceId, gid: Gid }),
  result: z.object({ changed: z.boolean(), gids: z.array(z.int()) }),
  fails: {
    403: "the caller may use the device but not manage it",
    404: "no such device, or the caller may not use it; no such group, or the caller is not in it",
    409: "the id names, or has named, devices of several other users: use OWNER@ID",
  },
  example: { args: { deviceId: "server", gid: 200 }, result: { changed: true, gids: [200] } },
  run({ devices, groups }, caller, { deviceId, gid }) {
    const key = devices.findManageableKey(caller, deviceId) ?? fail(404, `Unknown device: ${deviceId}`);
    // Without this check a user could push devices of any name on people who never asked for them.
    if (groups.get(gid) === undefined || !(isRoot(caller) || caller.gids.includes(gid)))
      fail(404, `Unknown group: ${gid}. You can share a device with a group that you are in; root can share it with any`);
    const changed = devices.grant(key, gid);
    return { changed, gids: devices.gidsOf(key) };
  },
});
