// The user's MCP servers, those that wait for a person first, each with its state and the next step.

import { useEffect } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { type McpServer, mcpServers, waitsForPerson } from "../state/mcp-servers.ts";
import { mayCall } from "../state/session.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { ChangesBadge, countOf, describeFailure, isConnecting, StateBadge } from "./server-state.tsx";
import { SignInLink, useReconnect } from "./sign-in.tsx";

const WATCH_MS = 2_000;

export function ServerList({ pane }: { pane: PaneName }) {
  useServers();
  const addButton = mayCall("sys.mcp.add") && (
    <Button look="primary" icon="plus" onClick={() => go(joinPath("integrations", "add"), { pane })}>
      Add a server
    </Button>
  );
  return (
    <Loaded latest={mcpServers} label="Loading your servers">
      {({ servers }) =>
        servers.length === 0 ? (
          <EmptyState
            icon="integration"
            title="No servers yet"
            text="An MCP server gives your agents tools of another service, such as its issues, mails or documents. All you need is its address."
          >
            {addButton}
          </EmptyState>
        ) : (
          <>
            <div class="integrations-head">
              <p class="soft">{describeServers(servers)}</p>
              {addButton}
            </div>
            <ul class="entries">
              {servers.toSorted(compareServers).map((server) => (
                <ServerEntry key={server.serverId} server={server} />
              ))}
            </ul>
          </>
        )
      }
    </Loaded>
  );
}

/** Reads the list on mount, and again while one of the servers connects: no signal says that a connection is open. */
export function useServers(): void {
  const servers = mcpServers.value.value?.servers;
  useEffect(() => void mcpServers.refetch(), []);
  useEffect(() => {
    if (servers?.some(isConnecting) !== true) return;
    const timer = setTimeout(() => void mcpServers.refetch(), WATCH_MS);
    return () => clearTimeout(timer);
  }, [servers]);
}

function ServerEntry({ server }: { server: McpServer }) {
  const { serverId, name, url, error, state, authUrl, tools, changes } = server;
  const { reconnect, isBusy, problem } = useReconnect(server);
  const path = joinPath("integrations", "server", serverId);
  const shownName = makeVisible(name);
  return (
    <li class="entry server-entry">
      <span class="entry-icon">
        <Icon name="integration" />
      </span>
      <div class="entry-words">
        <p class="row">
          <Link class="entry-link" to={path}>
            {shownName}
          </Link>
          <StateBadge server={server} />
          <ChangesBadge server={server} />
        </p>
        <p class="soft small">
          {makeVisible(url)}
          {state === "ready" && ` · ${countOf(tools.length, "tool")}`}
        </p>
        {error !== null && <p class="small bad-words">{describeFailure(error)}</p>}
        {problem !== null && <Banner tone="bad">{makeVisible(problem)}</Banner>}
      </div>
      <div class="row server-next">
        {authUrl !== null && isHttpUrl(authUrl) && <SignInLink authUrl={authUrl} look="plain" />}
        {((state === "authenticating" && authUrl === null) || state === "failed") && (
          <Button busy={isBusy} aria-label={`${state === "failed" ? "Try again" : "Sign in"}: ${shownName}`} onClick={reconnect}>
            {state === "failed" ? "Try again" : "Sign in…"}
          </Button>
        )}
        {changes.length > 0 && (
          <Link class="button button-plain" to={path} aria-label={`Review the changes of ${shownName}`}>
            Review
          </Link>
        )}
      </div>
      <Icon name="right" />
    </li>
  );
}

/** Those that wait for a person first, then those that do not work. */
function compareServers(one: McpServer, other: McpServer): number {
  return rankOf(one) - rankOf(other) || (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
}

function rankOf(server: McpServer): number {
  if (waitsForPerson(server)) return 0;
  return server.state === "failed" ? 1 : 2;
}

function describeServers(servers: readonly McpServer[]): string {
  const tools = servers.reduce((sum, server) => sum + server.tools.length, 0);
  return `${countOf(servers.length, "server")}, ${countOf(tools, "tool").toLowerCase()} for your agents`;
}
