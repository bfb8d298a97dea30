// The dialog that creates a user.

import { useId, useState } from "preact/hooks";
import { call } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextInput } from "../ui/field.tsx";

export function NewUser({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [username, setUsername] = useState("");
  const [fullName, setFullName] = useState("");
  const [password, setPassword] = useState("");
  const form = useId();
  const operation = useOperation();
  const isComplete = username.trim() !== "" && password !== "";
  const create = async () => {
    const gecos = fullName.trim() === "" ? {} : { gecos: fullName.trim() };
    const isCreated = await operation.run(() => call("sys.user.create", { username: username.trim(), password, ...gecos }));
    if (!isCreated) return;
    showNotice(`${username.trim()} can log in now`, "good");
    onCreated();
    onClose();
  };
  return (
    <Dialog
      title="Add a user"
      onClose={onClose}
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
          hint="Small letters, digits and dashes. It stays for good."
          value={username}
          onValue={setUsername}
          autocomplete="off"
          autocapitalize="none"
        />
        <TextInput label="Full name" hint="May be left empty." value={fullName} onValue={setFullName} autocomplete="off" />
        <TextInput
          label="Password"
          type="password"
          autocomplete="new-password"
          hint="They can change it themselves."
          value={password}
          onValue={setPassword}
        />
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </form>
    </Dialog>
  );
}
