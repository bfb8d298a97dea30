// Who one is here.

import { TextInput } from "../ui/field.tsx";
import { change, draft, shown } from "./draft.ts";
import { Filled } from "./filled.tsx";
import { PasswordField } from "./password-field.tsx";
import type { StepProps } from "./step-props.ts";
import { strengthOf } from "./strength.ts";
import "./stack-close.css";

export function AccountStep({ errorOf }: StepProps) {
  const { username, password, again } = draft.value;
  return (
    <>
      <Filled field="username">
        <TextInput
          label="Name"
          hint="What you and your agents call you here: lower-case letters, digits, _ or -."
          error={errorOf("username")}
          name="username"
          autocomplete="username"
          autocapitalize="none"
          maxLength={32}
          value={username}
          onValue={(typed) => change({ username: typed.trim().toLowerCase() })}
        />
      </Filled>
      <div class="stack-close">
        <PasswordField
          label="Password"
          name="password"
          error={errorOf("password")}
          value={password}
          onValue={(typed) => change({ password: typed })}
        />
        <Strength />
      </div>
      {!shown.value && (
        <PasswordField
          label="Password again"
          name="again"
          canShow={false}
          error={errorOf("again")}
          value={again}
          onValue={(typed) => change({ again: typed })}
        />
      )}
    </>
  );
}

function Strength() {
  const { password, username } = draft.value;
  const { level, words } = strengthOf(password, username);
  return (
    <p class="strength" data-level={password === "" ? undefined : level}>
      <span class="strength-bar" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      <span role="status">{words}</span>
    </p>
  );
}
