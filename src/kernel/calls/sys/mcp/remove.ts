// Removes an MCP server.

import { z } from "zod";
import { McpServerId } from "../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.mcp.remove",
  doc: "Remove an MCP server, its connection, and the account that was made to sign in to it. For a server that does not exist or is not the caller's, the answer is removed: false.",
  runs: "kernel",
  does: "effect",
  changes: "mcp",
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional(), serverId: McpServerId }),
  result: z.object({ removed: z.boolean() }),
  fails: { 400: "no serverId", 403: "uid names another user" },
  example: { args: { serverId: "k3x9d2p1" }, result: { removed: true } },
  async run({ mcp }, caller, { uid, serverId }) {
    return { removed: await mcp.remove(caller, uid, serverId) };
  },
});
