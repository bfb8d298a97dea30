// What a server says of a tool, as it is stored and compared: only what is told to models, with the keys of schemas in order, so that a
// server which writes the same schema in another order has not changed it.

import type { McpToolSummary } from "../protocol/mcp-records.ts";

type OfferedTool = { name: string; description?: string | undefined; inputSchema?: unknown; outputSchema?: unknown };

export const TOOLS_MAX = 500;
const NAME_CHARS_MAX = 256;
const DEFINITION_CHARS_MAX = 64 * 1024;
/** Of all tools: a user may have fifty servers, and all of them go into one answer. */
const DEFINITIONS_CHARS_MAX = 256 * 1024;

/** Tools whose definition is too large are left out, and so are those beyond the limits. */
export function toToolSummaries(offered: readonly OfferedTool[]): { tools: McpToolSummary[]; leftOut: number } {
  const tools = new Map<string, McpToolSummary>();
  let chars = 0;
  for (const { name, description, inputSchema, outputSchema } of offered) {
    if (tools.size === TOOLS_MAX || name === "" || name.length > NAME_CHARS_MAX || tools.has(name)) continue;
    const tool = { name, description: description ?? null, inputSchema: sortSchema(inputSchema), outputSchema: sortSchema(outputSchema) };
    const size = JSON.stringify(tool).length;
    if (size > DEFINITION_CHARS_MAX || chars + size > DEFINITIONS_CHARS_MAX) continue;
    chars += size;
    tools.set(name, tool);
  }
  return { tools: [...tools.values()], leftOut: offered.length - tools.size };
}

function sortSchema(schema: unknown): Record<string, unknown> | null {
  return typeof schema === "object" && schema !== null && !Array.isArray(schema) ? (sortKeys(schema) as Record<string, unknown>) : null;
}

/** Messages are not nested deeply (fetch.ts). */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
