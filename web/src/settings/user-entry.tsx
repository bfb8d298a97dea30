// One user in the list: locking, unlocking, and setting a new password.

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
  const [openDialog, setOpenDialog] = useState<"lock" | "password" | null>(null);
  const operation = useOperation();
  const { uid, username, gecos, groups, locked } = user;
  const name = makeVisible(username);
  const shared = groups.filter((group) => group !== username);
  const setLocked = async (to: boolean) => {
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
      <Button aria-label={`Set password of ${name}`} onClick={() => setOpenDialog("password")}>
        Set password
      </Button>
      {uid !== 0 &&
        (locked ? (
          <Button busy={operation.isBusy} aria-label={`Unlock ${name}`} onClick={() => void operation.run(() => setLocked(false))}>
            Unlock
          </Button>
        ) : (
          <Button aria-label={`Lock ${name}`} onClick={() => setOpenDialog("lock")}>
            Lock
          </Button>
        ))}
      {openDialog === "lock" && (
        <ConfirmDialog
          title={`Lock ${name}?`}
          confirmLabel="Lock"
          cancelLabel="Cancel"
          onConfirm={() => setLocked(true)}
          onClose={() => setOpenDialog(null)}
        >
          <p>
            Every browser, machine and script of {name} is disconnected at once, and {name} cannot sign in until you unlock the account.
            Nothing is deleted.
          </p>
        </ConfirmDialog>
      )}
      {openDialog === "password" && <PasswordDialog username={username} onClose={() => setOpenDialog(null)} onChanged={onChanged} />}
    </li>
  );
}

function PasswordDialog({ username, onClose, onChanged }: { username: string; onClose: () => void; onChanged: () => void }) {
  const [password, setPassword] = useState("");
  const [endTokens, setEndTokens] = useState(false);
  const form = useId();
  const operation = useOperation();
  const name = makeVisible(username);
  const save = async () => {
    const isSaved = await operation.run(() => call("sys.user.password", { username, password, revokeTokens: endTokens }));
    if (!isSaved) return;
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
            Set password
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
          hint="Sessions that used the old one are signed out. A locked user is unlocked."
          error={operation.problem}
          value={password}
          onValue={setPassword}
        />
        <Checkbox
          label="Revoke all access tokens, too"
          hint="Signs out every browser, machine and script."
          checked={endTokens}
          onChecked={setEndTokens}
        />
      </form>
    </Dialog>
  );
}
