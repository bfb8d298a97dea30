// One token in a list: what it is for, when it was used, when it ends, and the way to end it now.

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

const KINDS: Record<Token["kind"], string> = { user: "Person", node: "Machine", service: "Service" };
const DAY_MS = 24 * 60 * 60 * 1000;
const WARN_MS = 14 * DAY_MS;
/** As the doctor has it, which says so in words. */
const WARN_UNUSED_MS = 42 * DAY_MS;

export function TokenEntry({ token, owner, onRevoked }: { token: Token; owner?: string; onRevoked: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const { tokenId, kind, label, tokenPrefix, allowedDeviceId, createdAt, lastUsedAt, expiresAt, endsUnusedAt } = token;
  const name = makeVisible(label ?? "") || "Without a name";
  const isThis = readBrowserToken()?.tokenId === tokenId;
  const isEnding = kind !== "user" && expiresAt !== null && expiresAt - Date.now() < WARN_MS;
  const isFading = lastUsedAt !== null && endsUnusedAt !== null && endsUnusedAt - Date.now() < WARN_UNUSED_MS;
  const revoke = async () => {
    await call("sys.token.revoke", { tokenId });
    showNotice("The token has ended", "good");
    onRevoked();
  };
  return (
    <li class="entry">
      <div class="entry-words">
        <p class="row">
          <strong>{name}</strong>
          <Badge>{KINDS[kind]}</Badge>
          {isThis && <Badge tone="accent">This browser</Badge>}
          {isEnding && <Badge tone="warn">Ends soon</Badge>}
          {isFading && <Badge tone="warn">Ends soon unless used</Badge>}
        </p>
        <p class="soft small">
          {owner !== undefined && `${makeVisible(owner)}, `}
          {allowedDeviceId !== null && `only as ${makeVisible(allowedDeviceId)}, `}
          <code>{tokenPrefix}…</code>, made <Time at={createdAt} />,{" "}
          {lastUsedAt === null ? (
            "never used"
          ) : (
            <>
              used <Time at={lastUsedAt} />
            </>
          )}
          , <End expiresAt={expiresAt} endsUnusedAt={endsUnusedAt} />
        </p>
      </div>
      <Button aria-label={`Revoke ${name}`} onClick={() => setAsking(true)}>
        Revoke
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`Revoke ${name}?`}
          confirmLabel="Revoke it"
          cancelLabel="Keep it"
          onConfirm={revoke}
          onClose={() => setAsking(false)}
        >
          <p>
            {isThis
              ? "You are logged out of this browser at once."
              : "Whoever uses it is disconnected at once. It cannot be made valid again; a new one can be made."}
          </p>
        </ConfirmDialog>
      )}
    </li>
  );
}

/** Whichever comes first. */
function End({ expiresAt, endsUnusedAt }: Pick<Token, "expiresAt" | "endsUnusedAt">) {
  if (endsUnusedAt !== null && endsUnusedAt < (expiresAt ?? Infinity))
    return (
      <>
        ends <Time at={endsUnusedAt} /> unless it is used
      </>
    );
  return expiresAt === null ? (
    <>never ends</>
  ) : (
    <>
      ends <Time at={expiresAt} />
    </>
  );
}
