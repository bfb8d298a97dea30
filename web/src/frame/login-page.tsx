// The sign-in page. The password is sent once, to the gateway that served this page, and never stored. The user name is remembered.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ConnectionLost } from "../../../src/client/client.ts";
import { BrowserRefusal } from "../state/call.ts";
import { readItem, writeItem } from "../state/local-storage.ts";
import { logIn, loginReason } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Field, TextInput } from "../ui/field.tsx";
import { SingleCardPage } from "./single-card-page.tsx";
import "./login-page.css";

const NAME_KEY = "gsv.name";

export function LoginPage() {
  const [username, setUsername] = useState(() => readItem(NAME_KEY) ?? "");
  const [password, setPassword] = useState("");
  const [isShown, setShown] = useState(false);
  const [hasCapsLock, setCapsLock] = useState(false);
  const { isBusy, problem, run } = useOperation();
  const nameInput = useRef<HTMLInputElement>(null);
  const passwordInput = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => (username === "" ? nameInput : passwordInput).current?.focus(), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    const name = username.trim();
    if (name === "") return nameInput.current?.focus();
    if (password === "") return passwordInput.current?.focus();
    // Password managers save a field of type password.
    setShown(false);
    if (await run(() => logIn({ username: name, password }).catch(explainNoAnswer))) {
      void welcomeNewUser();
      return writeItem(NAME_KEY, name);
    }
    setPassword("");
    passwordInput.current?.focus();
  };
  const noteCapsLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState("CapsLock"));

  return (
    <SingleCardPage title="Sign in" text={`to GSV at ${location.host}`}>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        {problem === null && loginReason.value !== null && <Banner>{loginReason.value}</Banner>}
        <TextInput
          label="User name"
          name="username"
          autocomplete="username"
          autocapitalize="none"
          value={username}
          onValue={setUsername}
          inputRef={nameInput}
        />
        <Field label="Password" {...(hasCapsLock && { hint: "Caps Lock is on." })}>
          {(controlProps) => (
            <div class="login-password">
              <input
                {...controlProps}
                {...(isShown ? { type: "text" as const } : { type: "password" as const })}
                ref={passwordInput}
                class="control"
                name="password"
                autocomplete="current-password"
                autocapitalize="none"
                spellcheck={false}
                value={password}
                onInput={(event) => setPassword(event.currentTarget.value)}
                onKeyDown={noteCapsLock}
                onKeyUp={noteCapsLock}
              />
              <Button look="quiet" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
                {isShown ? "Hide" : "Show"}
              </Button>
            </div>
          )}
        </Field>
        {/* Below the fields, which must not move while somebody aims at them. */}
        {problem !== null && <Banner tone="bad">{problem}</Banner>}
        <Button type="submit" look="primary" wide busy={isBusy}>
          Sign in
        </Button>
        <p class="soft small">
          {problem === null
            ? "Signed in on another device? Choose “Sign in on a phone” there and scan the code."
            : "Forgot your password? An administrator can set a new one under Settings, People."}
        </p>
      </form>
    </SingleCardPage>
  );
}

/** Not needed to work, so it may fail. */
async function welcomeNewUser(): Promise<void> {
  await import("../onboarding/first-sign-in.ts").then((module) => module.welcomeNewUser()).catch(() => {});
}

function explainNoAnswer(error: unknown): never {
  if (error instanceof ConnectionLost)
    throw new BrowserRefusal("The gateway does not answer. Check that it is running and that this device is online, then try again.");
  throw error;
}
