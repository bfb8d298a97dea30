// The user's accounts at providers: what each is for, and a button to forget it. Also sign-ins in progress.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { call, type Result } from "../state/call.ts";
import { mcpServers } from "../state/mcp-servers.ts";
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
            text={
              mcpServers.value.value?.servers.some(({ state }) => state === "authenticating") === true
                ? "A server waits for you to sign in. When you have, your account there appears here, with what uses it."
                : "When you sign in to a server, your account there appears here, with what uses it."
            }
          />
        ) : (
          <>
            <p class="soft">GSV uses these accounts for your agents. The sign-ins are stored encrypted, and no agent can read them.</p>
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
          at {makeVisible(hostOf(provider))}, its link expires <Time at={expiresAt} />
        </p>
      </div>
      {server !== undefined && (
        <Link class="button button-plain" to={joinPath("integrations", "server", server.serverId)}>
          Continue
        </Link>
      )}
    </li>
  );
}

function AccountEntry({ account, onForgotten }: { account: Account; onForgotten: () => void }) {
  const [isForgetting, setForgetting] = useState(false);
  const { label, provider, kind, state, usedBy, resource, scope, createdAt, accountId, accountKey } = account;
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
          {kind === "ai-provider" && <Badge>AI provider</Badge>}
        </p>
        <p>
          {usedBy.length > 0
            ? `Used by ${makeVisible(usedBy.join(", "))}`
            : `Nothing uses it now${resource === null ? "" : `; it is for ${makeVisible(hostOf(resource))}`}`}
        </p>
        {needsLogin && (
          <p class="small bad-words">
            {makeVisible(hostOf(provider))} no longer accepts it
            {server === undefined ? ": forget it, and sign in again." : ": sign in again."}
          </p>
        )}
        <p class="soft small">
          at {makeVisible(hostOf(provider))}
          {scope !== null && scope.trim() !== "" && `, may ${makeVisible(scope.trim().split(/\s+/).join(", "))}`}
        </p>
        <p class="soft small">
          Signed in <Time at={createdAt} />, <LastUse account={account} />
        </p>
      </div>
      <div class="row">
        {needsLogin && server !== undefined && (
          <Link class="button button-plain" to={joinPath("integrations", "server", server.serverId)}>
            Sign in…
          </Link>
        )}
        <Button aria-label={`Forget ${name}`} onClick={() => setForgetting(true)}>
          Forget…
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

function ForgetAccount({ account, onClose, onForgotten }: { account: Account; onClose: () => void; onForgotten: () => void }) {
  const name = makeVisible(account.label ?? account.provider);
  const users = makeVisible(account.usedBy.join(", "));
  const forget = async () => {
    await call("sys.oauth.forget", { accountId: account.accountId });
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
      <p>{users === "" ? "Nothing uses it now." : `Your agents cannot use ${users} until you sign in again.`}</p>
      <p>
        The sign-in is deleted here. To end GSV's access at {makeVisible(hostOf(account.provider))} as well, remove GSV in the settings
        there.
      </p>
    </ConfirmDialog>
  );
}

/** The account that was made for a server is called by its id. */
function findServer(accountKey: string) {
  return mcpServers.value.value?.servers.find(({ serverId }) => serverId === accountKey);
}
