// The next step where a server wants its owner to sign in: the page to open, whose it is, and a new one once it has expired. That the
// sign-in has ended comes by signal.

import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { call } from "../state/call.ts";
import { type McpServer, mcpServers, putMcpServer } from "../state/mcp-servers.ts";
import { type Operation, useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { joinClasses } from "../ui/classes.ts";
import { Icon } from "../ui/icon.tsx";
import { describeFailure, hostOf } from "./server-state.tsx";

/** A little more than a sign-in may take: by then the gateway no longer names the page. */
const EXPIRED_MS = 10 * 60 * 1000 + 5_000;

/** Connects again, which makes a new page if the server wants a sign-in. */
export function useReconnect({ serverId }: McpServer): Operation & { reconnect: () => void; connectedAt: number | null } {
  const operation = useOperation();
  const [connectedAt, setConnectedAt] = useState<number | null>(null);
  const reconnect = () =>
    void operation.run(async () => {
      setConnectedAt(null);
      const { server } = await call("sys.mcp.refresh", { serverId });
      if (server === null) await mcpServers.refetch();
      else putMcpServer(server);
      if (server?.state === "ready") setConnectedAt(Date.now());
    });
  return { ...operation, reconnect, connectedAt };
}

export function SignIn({ server }: { server: McpServer }) {
  const { reconnect, isBusy, problem } = useReconnect(server);
  const { state, authUrl, error, url } = server;
  useRefetchWhenExpired(authUrl);
  const page = authUrl !== null && isHttpUrl(authUrl) ? authUrl : null;
  const from = makeVisible(hostOf(url));
  return (
    <Card
      title={state === "ready" ? "Sign in again for more rights" : "Sign in"}
      text={
        state === "ready"
          ? `An agent wanted something of ${from} for which your sign-in has not enough rights. All else goes on working.`
          : `${from} shows its tools only to people it knows. GSV keeps the sign-in, encrypted, and never sees your password.`
      }
    >
      {error !== null && <Banner tone="bad">{describeFailure(error)}</Banner>}
      {problem !== null && <Banner tone="bad">{makeVisible(problem)}</Banner>}
      {page !== null && hostOf(page) !== hostOf(url) && (
        <p>
          It sends you to <strong>{makeVisible(hostOf(page))}</strong>. Go on only if that is where you have your account.
        </p>
      )}
      {page !== null && <Scopes scopes={scopesOf(page)} />}
      <div class="row">
        {page !== null && <SignInLink authUrl={page} look="primary" />}
        <Button look={page === null ? "primary" : "quiet"} busy={isBusy} onClick={reconnect}>
          {page === null ? "Get a sign-in link" : "Get a new link"}
        </Button>
      </div>
      <p class="soft small">
        {page === null
          ? "A link works once, for ten minutes."
          : "It opens in a new tab, and works once, for ten minutes. This page goes on by itself when you have signed in."}
      </p>
    </Card>
  );
}

/** A server may list thousands. */
const SCOPES_SHOWN = 20;

function Scopes({ scopes }: { scopes: readonly string[] }) {
  if (scopes.length === 0) return null;
  const others = scopes.length - SCOPES_SHOWN;
  return (
    <p>
      It asks for these rights, in the service's own words:{" "}
      {scopes.slice(0, SCOPES_SHOWN).map((scope, at) => (
        <Fragment key={scope}>
          {at > 0 && ", "}
          <code>{makeVisible(scope)}</code>
        </Fragment>
      ))}
      {others > 0 && `, and ${others.toLocaleString("en")} more`}
    </p>
  );
}

/** offline_access only means that the sign-in lasts. */
function scopesOf(page: string): string[] {
  const scopes = (new URL(page).searchParams.get("scope") ?? "").split(" ");
  return [...new Set(scopes)].filter((scope) => scope !== "" && scope !== "offline_access");
}

/** Shows the host that it leads to. */
export function SignInLink({ authUrl, look }: { authUrl: string; look: "primary" | "plain" }) {
  return (
    <a class={joinClasses("button", `button-${look}`, "sign-in-link")} href={authUrl} target="_blank" rel="noopener noreferrer">
      <span>Sign in at {makeVisible(hostOf(authUrl))}</span>
      <Icon name="external" />
      <span class="unseen"> (opens in a new tab)</span>
    </a>
  );
}

/** No signal says that a page has expired. */
function useRefetchWhenExpired(authUrl: string | null): void {
  useEffect(() => {
    if (authUrl === null) return;
    const timer = setTimeout(() => void mcpServers.refetch(), EXPIRED_MS);
    return () => clearTimeout(timer);
  }, [authUrl]);
}
