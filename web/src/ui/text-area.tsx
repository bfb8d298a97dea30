// A multi-line text field that grows with its content.

import { useLayoutEffect, useRef } from "preact/hooks";
import { Field } from "./field.tsx";

type TextAreaProps = {
  label: string;
  hint?: string;
  error?: string | null;
  value: string;
  onValue: (value: string) => void;
  placeholder?: string;
  disabled?: boolean;
  /** Focus it on mount: it was opened for typing. */
  takesFocus?: boolean;
};

export function TextArea({ value, onValue, placeholder, disabled = false, takesFocus = false, ...words }: TextAreaProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  // In a layout effect, before the user can type: moving the cursor later would break a selection made meanwhile.
  useLayoutEffect(() => {
    if (!takesFocus) return;
    field.current?.focus();
    field.current?.setSelectionRange(value.length, value.length);
  }, []);
  return (
    <Field {...words}>
      {(controlProps) => (
        <textarea
          {...controlProps}
          ref={field}
          class="control control-tall"
          rows={3}
          placeholder={placeholder}
          disabled={disabled}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
