// More than a line of text. It grows with what is written.

import { Field } from "./field.tsx";

type TextAreaProps = {
  label: string;
  hint?: string;
  error?: string | null;
  value: string;
  onValue: (value: string) => void;
  placeholder?: string;
  disabled?: boolean;
};

export function TextArea({ value, onValue, placeholder, disabled = false, ...words }: TextAreaProps) {
  return (
    <Field {...words}>
      {(wiring) => (
        <textarea
          {...wiring}
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
