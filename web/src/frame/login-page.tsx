// The login page. The password is sent once, to the gateway that served this page, and never stored.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { logIn, loginReason } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { SingleCardPage } from "./single-card-page.tsx";

export function LoginPage() {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const { isBusy, problem, run } = useOperation();
  const nameInput = useRef<HTMLInputElement>(null);
  const passwordInput = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => nameInput.current?.focus(), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (username.trim() === "") return nameInput.current?.focus();
    if (password === "") return passwordInput.current?.focus();
    if (await run(() => logIn({ username: username.trim(), password }))) return;
    setPassword("");
    passwordInput.current?.focus();
  };

  return (
    <SingleCardPage title="Log in" text={`to GSV at ${location.host}`}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        {problem !== null ? <Banner tone="bad">{problem}</Banner> : loginReason.value !== null && <Banner>{loginReason.value}</Banner>}
        <TextInput
          label="Name"
          name="username"
          autocomplete="username"
          autocapitalize="none"
          value={username}
          onValue={setUsername}
          inputRef={nameInput}
        />
        <TextInput
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
          inputRef={passwordInput}
        />
        <Button type="submit" look="primary" wide busy={isBusy}>
          Log in
        </Button>
      </form>
    </SingleCardPage>
  );
}
