// The state of an MCP server in words, and the addresses in what it says.

import { makeVisible } from "../../../src/approval/visible.ts";
import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { type McpServer, wantsSignIn } from "../state/mcp-servers.ts";
import { Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/banner.tsx";

const STATES: Record<McpServer["state"], { word: string; tone: Tone }> = {
  ready: { word: "Ready", tone: "good" },
  authenticating: { word: "Needs sign-in", tone: "warn" },
  failed: { word: "Not working", tone: "bad" },
  "not-connected": { word: "Not connected", tone: "plain" },
  connecting: { word: "Connecting…", tone: "plain" },
  connected: { word: "Connecting…", tone: "plain" },
  discovering: { word: "Reading its tools…", tone: "plain" },
};

export function isConnecting({ state }: McpServer): boolean {
  return state === "connecting" || state === "connected" || state === "discovering";
}

export function StateBadge({ server }: { server: McpServer }) {
  const { word, tone } = STATES[server.state];
  return (
    <>
      <Badge tone={tone} dot={server.state === "ready"}>
        {word}
      </Badge>
      {server.state === "ready" && wantsSignIn(server) && <Badge tone="warn">Wants more rights</Badge>}
    </>
  );
}

export function ChangesBadge({ server: { changes } }: { server: McpServer }) {
  return changes.length === 0 ? null : <Badge tone="warn">{countOf(changes.length, "change")} to review</Badge>;
}

/** Errors of servers and providers, as sentences of ours. */
export function describeFailure(error: string | null): string {
  const text = makeVisible(error ?? "It does not answer").trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export function countOf(count: number, what: string): string {
  return `${count === 0 ? "No" : count} ${what}${count === 1 ? "" : "s"}`;
}

/** In ASCII, as browsers show the host of an address. The whole text if it is no address of the web. */
export function hostOf(url: string): string {
  return isHttpUrl(url) ? new URL(url).host : url;
}
