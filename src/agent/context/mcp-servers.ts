// The MCP servers that are ready for use.

import { toOneLine } from "./section.ts";

export type ContextMcpServer = { name: string; description?: string };

export function mcpServerList(servers: readonly ContextMcpServer[]): string {
  if (servers.length === 0) return "- (none)";
  const sorted = servers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return sorted
    .map(({ name, description = "" }) => `- ${toOneLine(name)}${description === "" ? "" : `: ${toOneLine(description)}`}`)
    .join("\n");
}
