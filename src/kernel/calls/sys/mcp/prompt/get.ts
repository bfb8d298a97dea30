// Fills in a prompt of an MCP server.

import { z } from "zod";
import { McpServerId } from "../../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../../protocol/records.ts";
import { syscall } from "../../../define.ts";

export default syscall({
  name: "sys.mcp.prompt.get",
  doc: "Fill in a prompt of one of the caller's MCP servers. Its messages are text from that server and are told to nobody by themselves.",
  runs: "kernel",
  does: "effect",
  again: "safe",
  atOnce: 4,
  from: ["user"],
  grant: ["users"],
  args: z.object({
    uid: Uid.optional(),
    serverId: McpServerId,
    name: z.string().min(1).max(256),
    arguments: z.record(z.string(), z.string()).optional(),
  }),
  result: z.object({
    description: z.string().nullable(),
    messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
  }),
  fails: {
    403: "uid names another user",
    404: "there is no such server or prompt",
    409: "the server wants a sign-in",
    503: "the server cannot be reached",
  },
  example: {
    args: { serverId: "k3x9d2p1", name: "triage", arguments: { team: "web" } },
    result: { description: null, messages: [{ role: "user", content: { type: "text", text: "Sort the new issues of web." } }] },
  },
  run({ mcp, signal }, caller, { uid, serverId, name, arguments: given }) {
    return mcp.getPrompt(caller, { uid, serverId }, name, given ?? {}, signal);
  },
});
