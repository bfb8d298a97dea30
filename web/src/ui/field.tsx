// Form fields: a label, a control, and below it a hint or an error.

import type { ComponentChildren, ComponentProps, Ref } from "preact";
import { useId } from "preact/hooks";
import { joinClasses } from "./classes.ts";
import "./field.css";

type FieldText = { label: string; hint?: string; error?: string | null };
type ControlProps = { id: string; "aria-describedby": string | undefined; "aria-invalid": "true" | undefined };

/** For custom controls: `children` receives the props that connect the control to its label and hint. */
export function Field({ label, hint, error, children }: FieldText & { children: (controlProps: ControlProps) => ComponentChildren }) {
  const id = useId();
  const words = error ?? hint;
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({ id, "aria-describedby": words === undefined ? undefined : `${id}-words`, "aria-invalid": error ? "true" : undefined })}
      {words !== undefined && (
        <p id={`${id}-words`} class={joinClasses("field-words", error && "field-error")}>
          {words}
        </p>
      )}
    </div>
  );
}

type TextInputProps = FieldText & {
  value: string;
  onValue: (value: string) => void;
  type?: "text" | "password" | "email" | "url" | "search" | "number";
  name?: string;
  placeholder?: string;
  autocomplete?: string;
  autocapitalize?: "none" | "words" | "sentences";
  inputMode?: "text" | "numeric" | "decimal" | "url" | "email";
  maxLength?: number;
  required?: boolean;
  disabled?: boolean;
  readOnly?: boolean;
  inputRef?: Ref<HTMLInputElement>;
};

export function TextInput({ label, hint, error, value, onValue, inputRef, ...rest }: TextInputProps) {
  const words = { label, ...(hint === undefined ? {} : { hint }), ...(error === undefined ? {} : { error }) };
  return (
    <Field {...words}>
      {(controlProps) => (
        <input
          spellcheck={false}
          {...(rest as ComponentProps<"input">)}
          {...controlProps}
          ref={inputRef ?? null}
          class="control"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
