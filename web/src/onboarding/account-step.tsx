// The name and password of the first user.

import { TextInput } from "../ui/field.tsx";
import { changeDraft, draft, isPasswordVisible } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { PasswordField } from "./password-field.tsx";
import type { StepProps } from "./step-props.ts";
import { rateStrength } from "./password-strength.ts";
import "./stack-close.css";

export function AccountStep({ errorOf }: StepProps) {
  const { username, password, again } = draft.value;
  return (
    <>
      <GuidedField field="username">
        <TextInput
          label="Name"
          hint="Lower-case letters, digits, _ or -. You sign in with it, and it cannot be changed later."
          error={errorOf("username")}
          name="username"
          autocomplete="username"
          autocapitalize="none"
          maxLength={32}
          value={username}
          onValue={(typed) => changeDraft({ username: typed.trim().toLowerCase() })}
        />
      </GuidedField>
      <div class="stack-close">
        <PasswordField
          label="Password"
          name="password"
          error={errorOf("password")}
          value={password}
          onValue={(typed) => changeDraft({ password: typed })}
        />
        <Strength />
      </div>
      {!isPasswordVisible.value && (
        <PasswordField
          label="Repeat password"
          name="again"
          canShow={false}
          error={errorOf("again")}
          value={again}
          onValue={(typed) => changeDraft({ again: typed })}
        />
      )}
    </>
  );
}

function Strength() {
  const { password, username } = draft.value;
  const { level, words } = rateStrength(password, username);
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
