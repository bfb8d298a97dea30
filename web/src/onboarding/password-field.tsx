// A password field whose text can be shown.

import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { isPasswordVisible } from "./draft.ts";

type PasswordFieldProps = {
  label: string;
  name: string;
  hint?: string;
  error: string | null;
  value: string;
  onValue: (value: string) => void;
  autocomplete?: string;
  /** Has the button that shows the text of all password fields. */
  canShow?: boolean;
};

export function PasswordField({ value, onValue, name, autocomplete = "new-password", canShow = true, ...words }: PasswordFieldProps) {
  return (
    <Field {...words}>
      {(controlProps) => (
        <div class="secret">
          <input
            {...controlProps}
            class="control"
            {...(isPasswordVisible.value ? { type: "text" as const } : { type: "password" as const })}
            name={name}
            autocomplete={autocomplete}
            autocapitalize="none"
            spellcheck={false}
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          {canShow && (
            <Button aria-pressed={isPasswordVisible.value} onClick={() => (isPasswordVisible.value = !isPasswordVisible.value)}>
              {isPasswordVisible.value ? "Hide" : "Show"}
            </Button>
          )}
        </div>
      )}
    </Field>
  );
}
