// A password, which can be shown while it is typed.

import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { shown } from "./draft.ts";

type PasswordFieldProps = {
  label: string;
  name: string;
  hint?: string;
  error: string | null;
  value: string;
  onValue: (value: string) => void;
  autocomplete?: string;
  /** Only one of two fields has the button: it shows both. */
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
            {...(shown.value ? { type: "text" as const } : { type: "password" as const })}
            name={name}
            autocomplete={autocomplete}
            autocapitalize="none"
            spellcheck={false}
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          {canShow && (
            <Button aria-pressed={shown.value} onClick={() => (shown.value = !shown.value)}>
              {shown.value ? "Hide" : "Show"}
            </Button>
          )}
        </div>
      )}
    </Field>
  );
}
