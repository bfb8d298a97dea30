// Counts in the bar, on every screen, how many MCP servers wait for a person.

import { effect } from "@preact/signals";
import { followMcpServers, waitingServerCount } from "../state/mcp-servers.ts";
import { setBadge } from "./badges.ts";

export function announceServers(): () => void {
  const stops = [followMcpServers(), effect(() => setBadge("integrations", waitingServerCount.value))];
  return () => {
    for (const stop of stops) stop();
  };
}
