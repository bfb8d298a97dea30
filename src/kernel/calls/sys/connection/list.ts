// Lists connections.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { Role, Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.connection.list",
  doc: "List open authenticated connections, newest first, and when each last sent something. Root sees all or one user's; others their own.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional() }),
  result: z.object({
    connections: z.array(
      z.object({
        connectionId: z.string(),
        uid: z.int(),
        role: Role,
        clientId: z.string(),
        clientVersion: z.string(),
        platform: z.string(),
        address: z.string(),
        connectedAt: z.number(),
        lastHeardAt: z.number(),
        tokenId: z.string().nullable(),
      }),
    ),
  }),
  fails: { 403: "another user's" },
  example: {
    args: {},
    result: {
      connections: [
        {
          connectionId: "0f4c1a9e-6a35-4f5b-9a68-2f8f5f1f7b11",
          uid: 1000,
          role: "user",
          clientId: "laptop-cli",
          clientVersion: "0.1.0",
          platform: "linux",
          address: "127.0.0.1",
          connectedAt: 1763200000000,
          lastHeardAt: 1763200004000,
          tokenId: null,
        },
      ],
    },
  },
  run({ connections }, caller, { uid }) {
    if (isRoot(caller)) return { connections: connections.list(uid) };
    if (uid !== undefined && uid !== caller.uid) fail(403, "Permission denied: cannot list connections of another user");
    return { connections: connections.list(caller.uid) };
  },
});
