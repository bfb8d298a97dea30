// The page of one MCP server: the next step, what has changed, its tools and what it says of itself, and removal.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { call } from "../state/call.ts";
import { dropMcpServer, type McpServer, mcpServers, wantsSignIn } from "../state/mcp-servers.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { ServerChanges } from "./server-changes.tsx";
import { useServers } from "./server-list.tsx";
import { countOf, describeFailure, isConnecting, StateBadge } from "./server-state.tsx";
import { ServerTools } from "./server-tools.tsx";
import { SignIn, useReconnect } from "./sign-in.tsx";

const TRANSPORTS: Record<Exclude<McpServer["transport"], "auto">, string> = { "streamable-http": "Streamable HTTP", sse: "SSE" };

export function Server({ serverId, pane }: { serverId: string; pane: PaneName }) {
  useServers();
  return (
    <>
      <Link class="back" to={joinPath("integrations")}>
        <Icon name="back" />
        All servers
      </Link>
      <Loaded latest={mcpServers} label="Loading the server">
        {({ servers }) => {
          const server = servers.find((one) => one.serverId === serverId);
          if (server === undefined)
            return <EmptyState icon="integration" title="There is no such server" text="It was removed, or it is not yours." />;
          return <ServerPage server={server} servers={servers} onRemoved={() => go(joinPath("integrations"), { pane })} />;
        }}
      </Loaded>
    </>
  );
}

type ServerPageProps = { server: McpServer; servers: readonly McpServer[]; onRemoved: () => void };

function ServerPage({ server, servers, onRemoved }: ServerPageProps) {
  const [isRemoving, setRemoving] = useState(false);
  const { instructions, changes, accountId } = server;
  return (
    <>
      {wantsSignIn(server) && <SignIn server={server} />}
      {changes.length > 0 && <ServerChanges server={server} />}
      <Facts server={server} />
      <ServerTools server={server} servers={servers} />
      {instructions !== null && instructions.trim() !== "" && (
        <Card title="What it says of itself" text="The server's own words. Agents see them when they look it up.">
          <pre class="entry-text strange-text" tabIndex={0} role="group" aria-label="Instructions of the server">
            {makeVisible(instructions)}
          </pre>
        </Card>
      )}
      <Card
        title="Remove this server"
        text={`Your agents lose its tools${accountId === null ? "." : ", and the sign-in made for it is deleted."}`}
        actions={
          <Button look="danger" onClick={() => setRemoving(true)}>
            Remove…
          </Button>
        }
      />
      {isRemoving && <RemoveDialog server={server} onClose={() => setRemoving(false)} onRemoved={onRemoved} />}
    </>
  );
}

function Facts({ server }: { server: McpServer }) {
  const { url, transport, state, error, headers, accountId, createdAt } = server;
  const { reconnect, isBusy, problem, connectedAt } = useReconnect(server);
  const isBroken = state === "failed";
  return (
    <Card
      title="Status"
      actions={
        <>
          <StateBadge server={server} />
          {state !== "authenticating" && (
            <Button icon="refresh" busy={isBusy || isConnecting(server)} onClick={reconnect}>
              {isBroken ? "Try again" : "Connect again"}
            </Button>
          )}
        </>
      }
    >
      {isBroken && <Banner tone="bad">{describeFailure(error)}</Banner>}
      {problem !== null && <Banner tone="bad">{makeVisible(problem)}</Banner>}
      <dl class="facts">
        <Fact name="Address">{makeVisible(url)}</Fact>
        {state === "ready" && <Fact name="Offers">{describeOffer(server)}</Fact>}
        {accountId !== null && (
          <Fact name="Account">
            <Link to={joinPath("integrations", "accounts")}>Signed in</Link>
          </Fact>
        )}
        {headers.length > 0 && <Fact name="Headers sent along">{makeVisible(headers.join(", "))}</Fact>}
        {transport !== "auto" && <Fact name="Transport">{TRANSPORTS[transport]}</Fact>}
        <Fact name="Added">
          <Time at={createdAt} />
        </Fact>
        {connectedAt !== null && (
          <Fact name="Connected again">
            <Time at={connectedAt} />
          </Fact>
        )}
      </dl>
    </Card>
  );
}

function describeOffer({ tools, changes, resourceCount, promptCount }: McpServer): string {
  const offered = [
    { count: tools.length, what: "tool", about: "" },
    { count: changes.length, what: "tool", about: " to review" },
    { count: resourceCount, what: "resource", about: "" },
    { count: promptCount, what: "prompt", about: "" },
  ].filter(({ count }) => count > 0);
  return offered.length === 0 ? "Nothing" : offered.map(({ count, what, about }) => `${countOf(count, what)}${about}`).join(", ");
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RemoveDialog({ server, onClose, onRemoved }: { server: McpServer; onClose: () => void; onRemoved: () => void }) {
  const { serverId, accountId } = server;
  const name = makeVisible(server.name);
  const remove = async () => {
    await call("sys.mcp.remove", { serverId });
    onRemoved();
    dropMcpServer(serverId);
  };
  return (
    <ConfirmDialog title={`Remove ${name}?`} confirmLabel="Remove it" cancelLabel="Keep it" onConfirm={remove} onClose={onClose}>
      <p>Agents and scripts can no longer use its tools. If you add it again, look at its tools again: what you accepted is forgotten.</p>
      {accountId !== null && (
        <p>The sign-in made for it is deleted here. To end GSV's access there as well, remove GSV in the settings of the service.</p>
      )}
    </ConfirmDialog>
  );
}
