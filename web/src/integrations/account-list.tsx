// The user's accounts at providers: what each is for, how long it lasts, and a button to forget it. Also sign-ins in progress.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { call, type Result } from "../state/call.ts";
import { mcpServers } from "../state/mcp-servers.ts";
import { showNotice } from "../state/notices.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";
import { hostOf } from "./server-state.tsx";

type Listed = Result<"sys.oauth.list">;
type Account = Listed["accounts"][number];
type Flow = NonNullable<Listed["flows"]>[number];

const KINDS: Record<Account["kind"], string> = { "mcp-server": "MCP server", "ai-provider": "AI provider", generic: "Other" };

export function AccountList() {
  const uid = session.value?.identity.process.uid ?? 0;
  const latest = useLatest("sys.oauth.list", { uid, includePending: true }, makeChangeFilter("oauth", "mcp"));
  return (
    <Loaded latest={latest} label="Loading your accounts">
      {({ accounts, flows = [] }) =>
        accounts.length === 0 && flows.length === 0 ? (
          <EmptyState
            icon="person"
            title="No accounts yet"
            text="When a server wants you to sign in, the account appears here. GSV keeps its tokens encrypted and shows them to nobody."
          />
        ) : (
          <>
            <p class="soft">GSV uses these accounts for you. Their tokens are encrypted, and no agent can read them.</p>
            <ul class="entries">
              {flows.map((flow) => (
                <FlowEntry key={flow.flowId} flow={flow} />
              ))}
              {accounts.map((account) => (
                <AccountEntry key={account.accountId} account={account} onForgotten={() => void latest.refetch()} />
              ))}
            </ul>
          </>
        )
      }
    </Loaded>
  );
}

/** A sign-in that its owner has not finished. */
function FlowEntry({ flow: { label, provider, kind, accountKey, expiresAt } }: { flow: Flow }) {
  const server = kind === "mcp-server" ? findServer(accountKey) : undefined;
  return (
    <li class="entry">
      <span class="entry-icon">
        <Icon name="person" />
      </span>
      <div class="entry-words">
        <p class="row">
          <strong>{makeVisible(label ?? provider)}</strong>
          <Badge tone="warn">Sign-in not finished</Badge>
        </p>
        <p class="soft small">
          at {makeVisible(hostOf(provider))}, the page works until <Time at={expiresAt} />
        </p>
      </div>
      {server !== undefined && (
        <Link class="button button-plain" to={joinPath("integrations", "server", server.serverId)}>
          Go on
        </Link>
      )}
    </li>
  );
}

function AccountEntry({ account, onForgotten }: { account: Account; onForgotten: () => void }) {
  const [isForgetting, setForgetting] = useState(false);
  const { label, provider, kind, state, usedBy, scope, createdAt, accountId, accountKey } = account;
  const name = makeVisible(label ?? provider);
  const server = mcpServers.value.value?.servers.find((one) => one.accountId === accountId) ?? findServer(accountKey);
  const needsLogin = state === "needs_login";
  return (
    <li class="entry">
      <span class="entry-icon">
        <Icon name="person" />
      </span>
      <div class="entry-words">
        <p class="row">
          <strong>{name}</strong>
          <Badge tone={needsLogin ? "warn" : "good"}>{needsLogin ? "Sign in again" : "Signed in"}</Badge>
          <Badge>{KINDS[kind]}</Badge>
        </p>
        <p>{usedBy.length === 0 ? "Nothing uses it." : `Used by ${makeVisible(usedBy.join(", "))}.`}</p>
        {needsLogin && <p>The provider no longer accepts it{server === undefined ? ": forget it, and start the sign-in again." : "."}</p>}
        <p class="soft small">
          at {makeVisible(hostOf(provider))}
          {scope !== null && `, may: ${makeVisible(scope)}`}, made <Time at={createdAt} />, <LastUse account={account} />
          <TokenEnd account={account} />
        </p>
      </div>
      <div class="row">
        {needsLogin && server !== undefined && (
          <Link class="button button-plain" to={joinPath("integrations", "server", server.serverId)}>
            Sign in…
          </Link>
        )}
        <Button aria-label={`Forget ${name}`} onClick={() => setForgetting(true)}>
          Forget
        </Button>
      </div>
      {isForgetting && <ForgetAccount account={account} onClose={() => setForgetting(false)} onForgotten={onForgotten} />}
    </li>
  );
}

function LastUse({ account: { lastUsedAt } }: { account: Account }) {
  return lastUsedAt === null ? (
    <>not used yet</>
  ) : (
    <>
      last used <Time at={lastUsedAt} />
    </>
  );
}

/** The gateway renews tokens when they are used, as far as the provider lets it. */
function TokenEnd({ account: { expiresAt, state } }: { account: Account }) {
  if (expiresAt === null || state === "needs_login") return null;
  return expiresAt > Date.now() ? (
    <>
      , its token is renewed <Time at={expiresAt} />
    </>
  ) : (
    <>, its token is renewed at the next use</>
  );
}

function ForgetAccount({ account, onClose, onForgotten }: { account: Account; onClose: () => void; onForgotten: () => void }) {
  const name = makeVisible(account.label ?? account.provider);
  const users = makeVisible(account.usedBy.join(", "));
  const forget = async () => {
    await call("sys.oauth.forget", { accountId: account.accountId });
    showNotice(`The account of ${name} is forgotten`, "good");
    onForgotten();
  };
  return (
    <ConfirmDialog
      title={`Forget the account of ${name}?`}
      confirmLabel="Forget it"
      cancelLabel="Keep it"
      onConfirm={forget}
      onClose={onClose}
    >
      <p>{users === "" ? "Nothing uses it now." : `${users} stops working until you sign in again.`} Its tokens are deleted here.</p>
      <p>To end the access at {makeVisible(hostOf(account.provider))}, too, remove GSV in the settings there.</p>
    </ConfirmDialog>
  );
}

/** The account that was made for a server is called by its id. */
function findServer(accountKey: string) {
  return mcpServers.value.value?.servers.find(({ serverId }) => serverId === accountKey);
}
