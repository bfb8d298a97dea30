// The user's own password, and logout.

import { useState } from "preact/hooks";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { CallError } from "../../../src/client/client.ts";
import { InstallCard } from "../install/install-card.tsx";
import { PhoneCard } from "../sign-in/phone-card.tsx";
import { call } from "../state/call.ts";
import { logOut, username } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { SavedMark } from "./saved-mark.tsx";
import { Setting } from "./setting.tsx";

export function Account() {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [savedAt, setSavedAt] = useState<number | null>(null);
  const operation = useOperation();
  const isShort = password !== "" && password.length < LIMITS.passwordChars;
  const changePassword = async () => {
    const isChanged = await operation.run(() => call("sys.user.password", { current, password }).catch(explainWrongPassword));
    setCurrent("");
    if (!isChanged) return;
    setPassword("");
    setSavedAt(Date.now());
  };
  return (
    <>
      <Setting anchor="password">
        <Card title="Password" text="Other sessions that used the old password are signed out. This browser stays signed in.">
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault();
              if (!isShort && password !== "" && current !== "") void changePassword();
            }}
          >
            <input type="text" name="username" autocomplete="username" value={username.value} readOnly hidden />
            <TextInput label="Current password" type="password" autocomplete="current-password" value={current} onValue={setCurrent} />
            <TextInput
              label="New password"
              type="password"
              autocomplete="new-password"
              hint={`At least ${LIMITS.passwordChars} characters.`}
              error={isShort ? `At least ${LIMITS.passwordChars} characters.` : null}
              value={password}
              onValue={setPassword}
            />
            {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
            <div class="row">
              <Button type="submit" look="primary" busy={operation.isBusy} disabled={current === "" || password === "" || isShort}>
                Change password
              </Button>
              <SavedMark savedAt={savedAt} />
            </div>
          </form>
        </Card>
      </Setting>
      <Setting anchor="phone">
        <PhoneCard />
      </Setting>
      <Setting anchor="install">
        <InstallCard />
      </Setting>
      {/* The bar has a logout button, too, but not on a narrow screen. */}
      <Setting anchor="logout">
        <Card title="This browser" text={`Signed in as ${username.value}.`}>
          <Button icon="leave" onClick={() => void logOut()}>
            Sign out
          </Button>
        </Card>
      </Setting>
    </>
  );
}

/** The general text for a 401 is about a name and a password, but here only the password can be wrong. */
function explainWrongPassword(error: unknown): never {
  if (error instanceof CallError && error.code === 401)
    throw new CallError({ code: 400, message: "That is not your current password. Try again." });
  throw error;
}
