// Lists the tools of a process, as its model sees them.

import { z } from "zod";
import { syscall } from "../define.ts";

export default syscall({
  name: "ai.tools",
  doc: "List the tools the calling process may use, the devices that are online for it, and its MCP servers that are ready. A tool is a syscall the process has the capability for; its target says where it runs.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  only: "processes",
  grant: ["users"],
  args: z.object({}),
  result: z.object({
    tools: z.array(z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) })),
    devices: z.array(
      z.object({ id: z.string(), implements: z.array(z.string()), description: z.string().optional(), platform: z.string().optional() }),
    ),
    mcpServers: z.array(z.string()),
  }),
  fails: { 403: "the caller is not a process" },
  example: {
    args: {},
    result: {
      tools: [{ name: "Delete", description: "Delete a file.", inputSchema: { type: "object", properties: { path: { type: "string" } } } }],
      devices: [{ id: "laptop", implements: ["fs.*", "shell.*"], description: "for travel", platform: "linux" }],
      mcpServers: ["Linear"],
    },
  },
  async run({ ai }, caller) {
    return ai.listTools(caller);
  },
});
