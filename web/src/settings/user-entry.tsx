// One user: locked or not, and the way to set a password for somebody who forgot theirs.

import { useId, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, type Result } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/choice.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextInput } from "../ui/field.tsx";

export type User = Result<"sys.user.list">["users"][number];

export function UserEntry({ user, onChanged }: { user: User; onChanged: () => void }) {
  const [asks, setAsks] = useState<"lock" | "password" | null>(null);
  const operation = useOperation();
  const { uid, username, gecos, groups, locked } = user;
  const name = makeVisible(username);
  const shared = groups.filter((group) => group !== username);
  const lock = async (to: boolean) => {
    await call("sys.user.lock", { username, locked: to });
    onChanged();
  };
  return (
    <li class="entry">
      <div class="entry-words">
        <p class="row">
          <strong>{name}</strong>
          {gecos !== "" && gecos !== username && <span class="soft">{makeVisible(gecos)}</span>}
          {locked && <Badge tone="bad">Locked</Badge>}
        </p>
        <p class="soft small">
          User {uid}
          {shared.length > 0 && `, in ${makeVisible(shared.join(", "))}`}
        </p>
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </div>
      <Button aria-label={`Set password of ${name}`} onClick={() => setAsks("password")}>
        Set password
      </Button>
      {uid !== 0 &&
        (locked ? (
          <Button busy={operation.isBusy} aria-label={`Unlock ${name}`} onClick={() => void operation.run(() => lock(false))}>
            Unlock
          </Button>
        ) : (
          <Button aria-label={`Lock ${name}`} onClick={() => setAsks("lock")}>
            Lock
          </Button>
        ))}
      {asks === "lock" && (
        <ConfirmDialog
          title={`Lock ${name}?`}
          confirmLabel="Lock"
          cancelLabel="Leave as it is"
          onConfirm={() => lock(true)}
          onClose={() => setAsks(null)}
        >
          <p>
            Every browser, machine and program of {name} is disconnected at once, and nobody gets in as {name} until you unlock it. Nothing
            is removed.
          </p>
        </ConfirmDialog>
      )}
      {asks === "password" && <SetPassword username={username} onClose={() => setAsks(null)} onChanged={onChanged} />}
    </li>
  );
}

function SetPassword({ username, onClose, onChanged }: { username: string; onClose: () => void; onChanged: () => void }) {
  const [password, setPassword] = useState("");
  const [endTokens, setEndTokens] = useState(false);
  const form = useId();
  const operation = useOperation();
  const name = makeVisible(username);
  const save = async () => {
    const isDone = await operation.run(() => call("sys.user.password", { username, password, revokeTokens: endTokens }));
    if (!isDone) return;
    showNotice(`The password of ${name} is set`, "good");
    onChanged();
    onClose();
  };
  return (
    <Dialog
      title={`Set the password of ${name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={operation.isBusy} disabled={password === ""} type="submit" form={form}>
            Set it
          </Button>
        </>
      }
    >
      <form
        id={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (password !== "") void save();
        }}
      >
        <TextInput
          label="New password"
          type="password"
          autocomplete="new-password"
          hint="Whoever came in with the old one is logged out. A locked user is unlocked."
          error={operation.problem}
          value={password}
          onValue={setPassword}
        />
        <Checkbox
          label="End all tokens, too"
          hint="Logs out every browser, machine and program."
          checked={endTokens}
          onChecked={setEndTokens}
        />
      </form>
    </Dialog>
  );
}
