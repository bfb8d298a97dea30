// Reads a resource of an MCP server.

import { z } from "zod";
import { McpServerId } from "../../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../../protocol/records.ts";
import { syscall } from "../../../define.ts";

export default syscall({
  name: "sys.mcp.resource.read",
  doc: "Read a resource of one of the caller's MCP servers. Text is in text, anything else in blob as base64.",
  runs: "kernel",
  does: "effect",
  again: "safe",
  atOnce: 4,
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional(), serverId: McpServerId, uri: z.string().min(1).max(8_192) }),
  result: z.object({
    contents: z.array(
      z.object({ uri: z.string(), mimeType: z.string().nullable(), text: z.string().optional(), blob: z.string().optional() }),
    ),
  }),
  fails: {
    403: "uid names another user",
    404: "there is no such server or resource",
    409: "the server wants a sign-in",
    503: "the server cannot be reached",
  },
  example: {
    args: { serverId: "k3x9d2p1", uri: "notes://today" },
    result: { contents: [{ uri: "notes://today", mimeType: "text/plain", text: "Water the plants" }] },
  },
  run({ mcp, signal }, caller, { uid, serverId, uri }) {
    return mcp.readResource(caller, { uid, serverId }, uri, signal);
  },
});
