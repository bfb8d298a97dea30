// The page of one MCP server: the next step, what has changed, its tools and what it says of itself, and removal.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { call } from "../state/call.ts";
import { dropMcpServer, type McpServer, mcpServers } from "../state/mcp-servers.ts";
import { showNotice } from "../state/notices.ts";
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
import { countOf, isConnecting, StateBadge } from "./server-state.tsx";
import { ServerTools } from "./server-tools.tsx";
import { SignIn, useReconnect } from "./sign-in.tsx";

const TRANSPORTS: Record<McpServer["transport"], string> = {
  auto: "found out when it connects",
  "streamable-http": "Streamable HTTP",
  sse: "SSE",
};

export function Server({ serverId, pane }: { serverId: string; pane: PaneName }) {
  useServers();
  const shown = mcpServers.value.value?.servers.find((one) => one.serverId === serverId);
  usePaneTitle(shown === undefined ? "MCP server" : makeVisible(shown.name));
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
  const { state, instructions, changes } = server;
  return (
    <>
      {state === "authenticating" && <SignIn server={server} />}
      <Facts server={server} />
      {changes.length > 0 && <ServerChanges server={server} />}
      <ServerTools server={server} servers={servers} />
      {instructions !== null && instructions.trim() !== "" && (
        <Card title="What it tells your agents" text="The server's own words. Agents read them together with its tools.">
          <pre class="entry-text strange-text" tabIndex={0} role="group" aria-label="Instructions of the server">
            {makeVisible(instructions)}
          </pre>
        </Card>
      )}
      <Card
        title="Remove this server"
        text="Its tools disappear for your agents, and so does the account made for it."
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
  const { url, transport, state, error, tools, resourceCount, promptCount, headers, accountId, createdAt, updatedAt } = server;
  const { reconnect, isBusy, problem } = useReconnect(server);
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
      {isBroken && <Banner tone="bad">{makeVisible(error ?? "It does not answer")}</Banner>}
      {problem !== null && <Banner tone="bad">{problem}</Banner>}
      <dl class="facts">
        <Fact name="Address">{makeVisible(url)}</Fact>
        <Fact name="Offers">
          {countOf(tools.length, "tool")}, {countOf(resourceCount, "resource").toLowerCase()},{" "}
          {countOf(promptCount, "prompt").toLowerCase()}
        </Fact>
        <Fact name="Account">{accountId === null ? "None" : <Link to={joinPath("integrations", "accounts")}>Signed in</Link>}</Fact>
        <Fact name="Headers">{headers.length === 0 ? "None" : makeVisible(headers.join(", "))}</Fact>
        <Fact name="Transport">{TRANSPORTS[transport]}</Fact>
        <Fact name="Added">
          <Time at={createdAt} />
        </Fact>
        <Fact name="Last changed">
          <Time at={updatedAt} />
        </Fact>
      </dl>
    </Card>
  );
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
    showNotice(`${name} is removed`, "good");
    onRemoved();
    dropMcpServer(serverId);
  };
  return (
    <ConfirmDialog title={`Remove ${name}?`} confirmLabel="Remove it" cancelLabel="Keep it" onConfirm={remove} onClose={onClose}>
      <p>
        Agents and scripts can no longer use its tools. What you accepted of them is forgotten: if you add it again, look at them again.
      </p>
      {accountId !== null && (
        <p>The sign-in made for it is deleted here. To end the access at the provider, too, remove GSV in the provider's own settings.</p>
      )}
    </ConfirmDialog>
  );
}
