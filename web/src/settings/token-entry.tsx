// One token in a list: its kind, last use and expiry, and a button to revoke it.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, type Result } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { readBrowserToken } from "../state/browser-token.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { Time } from "../ui/time.tsx";

export type Token = Result<"sys.token.list">["tokens"][number];

const KINDS: Record<Token["kind"], string> = { user: "User", node: "Machine", service: "Service" };
const DAY_MS = 24 * 60 * 60 * 1000;
const WARN_MS = 14 * DAY_MS;
/** The same limit as in the doctor's check. */
const WARN_UNUSED_MS = 42 * DAY_MS;

export function TokenEntry({ token, owner, onRevoked }: { token: Token; owner?: string; onRevoked: () => void }) {
  const [isConfirming, setConfirming] = useState(false);
  const { tokenId, kind, label, tokenPrefix, allowedDeviceId, createdAt, lastUsedAt, expiresAt, endsUnusedAt } = token;
  const name = makeVisible(label ?? "") || "Unnamed";
  const isThisBrowser = readBrowserToken()?.tokenId === tokenId;
  const isEnding = kind !== "user" && expiresAt !== null && expiresAt - Date.now() < WARN_MS;
  const isEndingUnused = lastUsedAt !== null && endsUnusedAt !== null && endsUnusedAt - Date.now() < WARN_UNUSED_MS;
  const revoke = async () => {
    await call("sys.token.revoke", { tokenId });
    showNotice("Token revoked", "good");
    onRevoked();
  };
  return (
    <li class="entry">
      <div class="entry-words">
        <p class="row">
          <strong>{name}</strong>
          <Badge>{KINDS[kind]}</Badge>
          {isThisBrowser && <Badge tone="accent">This browser</Badge>}
          {isEnding && <Badge tone="warn">Expires soon</Badge>}
          {isEndingUnused && <Badge tone="warn">Expires soon unless used</Badge>}
        </p>
        <p class="soft small">
          {owner !== undefined && `${makeVisible(owner)}, `}
          {allowedDeviceId !== null && `only as ${makeVisible(allowedDeviceId)}, `}
          <code>{tokenPrefix}…</code>, created <Time at={createdAt} />,{" "}
          {lastUsedAt === null ? (
            "never used"
          ) : (
            <>
              used <Time at={lastUsedAt} />
            </>
          )}
          , <TokenEnd expiresAt={expiresAt} endsUnusedAt={endsUnusedAt} />
        </p>
      </div>
      <Button aria-label={`Revoke ${name}`} onClick={() => setConfirming(true)}>
        Revoke
      </Button>
      {isConfirming && (
        <ConfirmDialog
          title={`Revoke ${name}?`}
          confirmLabel="Revoke"
          cancelLabel="Cancel"
          onConfirm={revoke}
          onClose={() => setConfirming(false)}
        >
          <p>
            {isThisBrowser
              ? "This browser is signed out at once."
              : "Whatever uses it is disconnected at once. This cannot be undone; you can create a new token."}
          </p>
        </ConfirmDialog>
      )}
    </li>
  );
}

/** The earlier of the two ends. */
function TokenEnd({ expiresAt, endsUnusedAt }: Pick<Token, "expiresAt" | "endsUnusedAt">) {
  if (endsUnusedAt !== null && endsUnusedAt < (expiresAt ?? Infinity))
    return (
      <>
        expires <Time at={endsUnusedAt} /> unless it is used
      </>
    );
  return expiresAt === null ? (
    <>never expires</>
  ) : (
    <>
      expires <Time at={expiresAt} />
    </>
  );
}
