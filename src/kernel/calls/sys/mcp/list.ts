// Lists MCP servers.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { MCP_SERVER_EXAMPLE, McpServerSummary } from "../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.mcp.list",
  doc: "List the caller's MCP servers, last changed first, with their state and tools. tools are those that can be called; changes are those that must be accepted first (sys.mcp.accept). Root may name another user.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional() }),
  result: z.object({ servers: z.array(McpServerSummary) }),
  fails: { 403: "uid names another user" },
  example: { args: {}, result: { servers: [MCP_SERVER_EXAMPLE] } },
  run({ mcpServers, now }, caller, { uid = caller.uid }) {
    if (!isRoot(caller) && uid !== caller.uid) fail(403, "Permission denied: cannot list MCP servers for another user");
    return { servers: mcpServers.list(uid, now) };
  },
});
