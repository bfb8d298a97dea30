// More than a line of text. It grows with what is written.

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
  /** It came because somebody wants to write. */
  takesFocus?: boolean;
};

export function TextArea({ value, onValue, placeholder, disabled = false, takesFocus = false, ...words }: TextAreaProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  // Before anybody can type: a cursor that is put somewhere later would break a selection made meanwhile.
  useLayoutEffect(() => {
    if (!takesFocus) return;
    field.current?.focus();
    field.current?.setSelectionRange(value.length, value.length);
  }, []);
  return (
    <Field {...words}>
      {(wiring) => (
        <textarea
          {...wiring}
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
