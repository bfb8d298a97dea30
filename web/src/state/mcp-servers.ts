// The MCP servers of the logged-in user: one list for the whole page, shown by the bar and the Integrations screen. It is read while
// the frame is mounted, and refetched on every change and reconnect.

import { computed, effect } from "@preact/signals";
import { call, describeError, type Result } from "./call.ts";
import { makeChangeFilter } from "./refetch-on.ts";
import { Latest } from "./latest.ts";
import { client, connectionCount, mayCall } from "./session.ts";

export type McpServer = Result<"sys.mcp.list">["servers"][number];

const isServerChange = makeChangeFilter("mcp");

export const mcpServers = new Latest<Result<"sys.mcp.list">>(() => call("sys.mcp.list", {}), describeError);

/** How many servers wait for a person. */
export const waitingServerCount = computed(() => (mcpServers.value.value?.servers ?? []).filter(waitsForPerson).length);

/** For a sign-in, or for a look at what has changed. */
export function waitsForPerson(server: McpServer): boolean {
  return wantsSignIn(server) || server.changes.length > 0;
}

/** A server that is ready may want one with more rights. */
export function wantsSignIn({ state, authUrl }: McpServer): boolean {
  return state === "authenticating" || authUrl !== null;
}

/** Returns a function that stops it. */
export function followMcpServers(): () => void {
  return effect(() => {
    if (connectionCount.value === 0 || !mayCall("sys.mcp.list")) return;
    void mcpServers.refetch();
    return client.value?.onSignal((sent) => {
      if (isServerChange(sent)) void mcpServers.refetch();
    });
  });
}

/** Shows what a call has returned at once. */
export function putMcpServer(server: McpServer): void {
  mcpServers.update(({ servers }) => ({ servers: [server, ...servers.filter(({ serverId }) => serverId !== server.serverId)] }));
}

export function dropMcpServer(serverId: string): void {
  mcpServers.update(({ servers }) => ({ servers: servers.filter((one) => one.serverId !== serverId) }));
}
