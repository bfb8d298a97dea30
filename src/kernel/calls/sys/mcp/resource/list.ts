// Lists the resources of an MCP server.

import { z } from "zod";
import { McpServerId } from "../../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../../protocol/records.ts";
import { syscall } from "../../../define.ts";

export default syscall({
  name: "sys.mcp.resource.list",
  doc: "List the resources of one of the caller's MCP servers, read from the server now.",
  runs: "kernel",
  does: "effect",
  again: "safe",
  atOnce: 4,
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional(), serverId: McpServerId }),
  result: z.object({
    resources: z.array(
      z.object({ uri: z.string(), name: z.string(), description: z.string().nullable(), mimeType: z.string().nullable() }),
    ),
    /** Patterns of URIs, such as file:///{path}. */
    templates: z.array(
      z.object({ uriTemplate: z.string(), name: z.string(), description: z.string().nullable(), mimeType: z.string().nullable() }),
    ),
  }),
  fails: {
    403: "uid names another user",
    404: "there is no such server",
    409: "the server wants a sign-in",
    503: "the server cannot be reached",
  },
  example: {
    args: { serverId: "k3x9d2p1" },
    result: { resources: [{ uri: "notes://today", name: "Today", description: null, mimeType: "text/plain" }], templates: [] },
  },
  run({ mcp, signal }, caller, { uid, serverId }) {
    return mcp.listResources(caller, { uid, serverId }, signal);
  },
});
