// The user's own password, and logout.

import { useState } from "preact/hooks";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { CallError } from "../../../src/client/client.ts";
import { call } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { logOut, username } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";

export function Account() {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const operation = useOperation();
  const isShort = password !== "" && password.length < LIMITS.passwordChars;
  const changePassword = async () => {
    const isChanged = await operation.run(() => call("sys.user.password", { current, password }).catch(explainWrongPassword));
    setCurrent("");
    if (!isChanged) return;
    setPassword("");
    showNotice("Your password is changed", "good");
  };
  return (
    <>
      <Card title="Your password" text="Whoever came in with the old one is logged out. This browser stays, by its token.">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isShort && password !== "" && current !== "") void changePassword();
          }}
        >
          <input type="text" name="username" autocomplete="username" value={username.value} readOnly hidden />
          <TextInput label="Password now" type="password" autocomplete="current-password" value={current} onValue={setCurrent} />
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
              Change it
            </Button>
          </div>
        </form>
      </Card>
      {/* The bar has a logout button, too, but not on a narrow screen. */}
      <Card title="This browser" text={`It is logged in as ${username.value} until you log out or its token ends.`}>
        <Button icon="leave" onClick={() => void logOut()}>
          Log out here
        </Button>
      </Card>
    </>
  );
}

/** The general text for a 401 is about a name and a password, but here only the password can be wrong. */
function explainWrongPassword(error: unknown): never {
  if (error instanceof CallError && error.code === 401)
    throw new CallError({ code: 400, message: "That is not your password now. Type it again." });
  throw error;
}
