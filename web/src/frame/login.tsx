// Logging in. The password goes to the gateway this page came from, once, and is kept nowhere.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { logIn, loginReason } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { Alone } from "./single-card-page.tsx";

export function Login() {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const { isBusy, problem, run } = useOperation();
  const name = useRef<HTMLInputElement>(null);
  const secret = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => name.current?.focus(), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (username.trim() === "") return name.current?.focus();
    if (password === "") return secret.current?.focus();
    if (await run(() => logIn({ username: username.trim(), password }))) return;
    setPassword("");
    secret.current?.focus();
  };

  return (
    <Alone title="Log in" text={`to GSV at ${location.host}`}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        {problem !== null ? <Banner tone="bad">{problem}</Banner> : loginReason.value !== null && <Banner>{loginReason.value}</Banner>}
        <TextInput
          label="Name"
          name="username"
          autocomplete="username"
          autocapitalize="none"
          value={username}
          onValue={setUsername}
          inputRef={name}
        />
        <TextInput
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
          inputRef={secret}
        />
        <Button type="submit" look="primary" wide busy={isBusy}>
          Log in
        </Button>
      </form>
    </Alone>
  );
}
