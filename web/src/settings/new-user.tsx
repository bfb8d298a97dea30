// The dialog that creates a user, and then says how they sign in for the first time.

import { useId, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call } from "../state/call.ts";
import { rateStrength } from "../onboarding/password-strength.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextInput } from "../ui/field.tsx";

export function NewUser({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [username, setUsername] = useState("");
  const [fullName, setFullName] = useState("");
  const [password, setPassword] = useState("");
  const [created, setCreated] = useState<string | null>(null);
  const form = useId();
  const operation = useOperation();
  const isComplete = username.trim() !== "" && password !== "";
  const create = async () => {
    const gecos = fullName.trim() === "" ? {} : { gecos: fullName.trim() };
    const isCreated = await operation.run(() => call("sys.user.create", { username: username.trim(), password, ...gecos }));
    if (!isCreated) return;
    onCreated();
    setCreated(username.trim());
  };
  if (created !== null) return <FirstSignIn username={created} password={password} onClose={onClose} />;
  return (
    <Dialog
      title="Add a user"
      onClose={onClose}
      isKept
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={operation.isBusy} disabled={!isComplete} type="submit" form={form}>
            Add
          </Button>
        </>
      }
    >
      <form
        id={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) void create();
        }}
      >
        <TextInput
          label="User name"
          hint="Lower-case letters, digits, _ and -. It cannot be changed later."
          value={username}
          onValue={setUsername}
          autocomplete="off"
          autocapitalize="none"
        />
        <TextInput label="Full name" hint="Optional." value={fullName} onValue={setFullName} autocomplete="off" />
        <TextInput
          label="Password"
          type="password"
          autocomplete="new-password"
          hint={`${rateStrength(password, username).words} They can change it after the first sign-in.`}
          value={password}
          onValue={setPassword}
        />
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </form>
    </Dialog>
  );
}

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

function FirstSignIn({ username, password, onClose }: { username: string; password: string; onClose: () => void }) {
  return (
    <Dialog
      title={`${makeVisible(username)} can sign in now`}
      onClose={onClose}
      isKept
      actions={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div class="stack">
        <p>Give them the address, the user name and the password. They can change the password in Settings, Account.</p>
        <Code text={location.origin} label="the address" />
        <Code text={username} label="the user name" />
        <Code text={password} label="the password" />
        {LOCAL_HOSTS.has(location.hostname) && (
          <Banner tone="warn">
            This address works only on this computer. To let others sign in, open GSV at an address that they can reach.
          </Banner>
        )}
      </div>
    </Dialog>
  );
}
