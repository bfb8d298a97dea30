// Connects to an MCP server again and reads its tools.

import { z } from "zod";
import { MCP_SERVER_EXAMPLE, McpServerId, McpServerSummary } from "../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.mcp.refresh",
  doc: "Connect to an MCP server again and read its tools. If it wants a sign-in, authUrl is a new page to open. A server that cannot be reached is failed, and error says why. For a server that does not exist or is not the caller's, the answer is server: null.",
  runs: "kernel",
  does: "effect",
  changes: "mcp",
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional(), serverId: McpServerId, callbackHost: z.string().trim().max(2_048).optional() }),
  result: z.object({ server: McpServerSummary.nullable() }),
  fails: { 400: "no serverId, or callbackHost is not an address of this gateway", 403: "uid names another user" },
  example: { args: { serverId: "k3x9d2p1" }, result: { server: MCP_SERVER_EXAMPLE } },
  async run({ mcp, signal }, caller, args) {
    return { server: await mcp.refresh(caller, args, signal) };
  },
});
