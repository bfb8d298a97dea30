// Accepts what an MCP server now says of its tools.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { MCP_SERVER_EXAMPLE, McpServerId, McpServerSummary } from "../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.mcp.accept",
  doc: "Accept new and changed tools of an MCP server, so that they can be called. Each is named with the hash of the definition that was shown (changes in sys.mcp.list), so that nothing else is accepted. Agents cannot call this.",
  runs: "kernel",
  does: "effect",
  changes: "mcp",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    uid: Uid.optional(),
    serverId: McpServerId,
    tools: z
      .array(z.object({ name: z.string().max(256), hash: z.string().max(128) }))
      .min(1)
      .max(1_000),
  }),
  result: z.object({ server: McpServerSummary }),
  fails: {
    400: "no serverId",
    403: "uid names another user, or the caller is an agent",
    404: "there is no such server",
    409: "a tool has changed again since it was shown; nothing was accepted",
  },
  example: { args: { serverId: "k3x9d2p1", tools: [{ name: "list_issues", hash: "5f0e" }] }, result: { server: MCP_SERVER_EXAMPLE } },
  async run({ mcp }, caller, args) {
    if (caller.agent !== undefined) fail(403, "Only a person can accept changed tools: in Integrations, or with gsv run -- mcp accept");
    return { server: await mcp.accept(caller, args) };
  },
});
