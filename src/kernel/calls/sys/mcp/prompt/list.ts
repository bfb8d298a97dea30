// Lists the prompts of an MCP server.

import { z } from "zod";
import { McpServerId } from "../../../../../protocol/mcp-records.ts";
import { Uid } from "../../../../../protocol/records.ts";
import { syscall } from "../../../define.ts";

export default syscall({
  name: "sys.mcp.prompt.list",
  doc: "List the prompts of one of the caller's MCP servers, read from the server now.",
  runs: "kernel",
  does: "effect",
  again: "safe",
  atOnce: 4,
  from: ["user"],
  grant: ["users"],
  args: z.object({ uid: Uid.optional(), serverId: McpServerId }),
  result: z.object({
    prompts: z.array(
      z.object({
        name: z.string(),
        description: z.string().nullable(),
        arguments: z.array(z.object({ name: z.string(), description: z.string().nullable(), required: z.boolean() })),
      }),
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
    result: {
      prompts: [{ name: "triage", description: "Sort new issues", arguments: [{ name: "team", description: null, required: true }] }],
    },
  },
  run({ mcp, signal }, caller, { uid, serverId }) {
    return mcp.listPrompts(caller, { uid, serverId }, signal);
  },
});
