// Calls a tool of an MCP server.

import { z } from "zod";
import { McpServerId } from "../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.mcp.call",
  doc: "Call a tool of one of the caller's MCP servers. isError means that the tool itself reports a failure, which is in content. A tool that has changed since it was accepted is refused. A call is never sent twice: if the connection breaks while a call runs, the error says that its outcome is unknown. timeoutMs is how long to wait, by default a minute.",
  runs: "kernel",
  does: "effect",
  atOnce: 8,
  from: ["user"],
  grant: ["users"],
  args: z.object({
    uid: Uid.optional(),
    serverId: McpServerId,
    name: z.string({ error: "name is required" }).min(1, { error: "name is required" }).max(256),
    arguments: z.record(z.string(), z.unknown()).optional(),
    timeoutMs: z.int().min(1_000).max(600_000).optional(),
  }),
  result: z.object({ content: z.unknown().optional(), structuredContent: z.unknown().optional(), isError: z.boolean().optional() }),
  fails: {
    400: "no serverId or name, or arguments is not an object",
    403: "uid names another user",
    404: "there is no such server, or it has no such tool",
    409: "the tool has changed and must be accepted, or the server wants a sign-in",
    503: "the server cannot be reached or answered with an error; the message says which",
    504: "no answer in time; the tool may have run",
  },
  example: {
    args: { serverId: "k3x9d2p1", name: "list_issues", arguments: { assignee: "me" } },
    result: { content: [{ type: "text", text: '[{"title":"Water the plants"}]' }] },
  },
  run({ mcp, signal }, caller, args) {
    return mcp.call(caller, args, signal);
  },
});
