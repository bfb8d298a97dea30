// Fields of a form: a label, the control, and below it what to write there or what is wrong with what was written.

import type { ComponentChildren, ComponentProps, Ref } from "preact";
import { useId } from "preact/hooks";
import { classes } from "./classes.ts";
import "./field.css";

type Words = { label: string; hint?: string; error?: string | null };
type Wiring = { id: string; "aria-describedby": string | undefined; "aria-invalid": "true" | undefined };

/** For a control of one's own: it is given what ties it to its words. */
export function Field({ label, hint, error, children }: Words & { children: (wiring: Wiring) => ComponentChildren }) {
  const id = useId();
  const words = error ?? hint;
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({ id, "aria-describedby": words === undefined ? undefined : `${id}-words`, "aria-invalid": error ? "true" : undefined })}
      {words !== undefined && (
        <p id={`${id}-words`} class={classes("field-words", error && "field-error")}>
          {words}
        </p>
      )}
    </div>
  );
}

type TextInputProps = Words & {
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
      {(wiring) => (
        <input
          spellcheck={false}
          {...(rest as ComponentProps<"input">)}
          {...wiring}
          ref={inputRef ?? null}
          class="control"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
