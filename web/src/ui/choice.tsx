// Select, checkbox and radio buttons.

import { useId } from "preact/hooks";
import { joinClasses } from "./classes.ts";
import { Field } from "./field.tsx";
import "./choice.css";

export type Option<V extends string> = { value: V; label: string; hint?: string; disabled?: boolean };

type SelectProps<V extends string> = {
  label: string;
  hint?: string;
  error?: string | null;
  value: V;
  options: readonly Option<V>[];
  onValue: (value: V) => void;
  disabled?: boolean;
};

export function Select<V extends string>({ value, options, onValue, disabled = false, ...words }: SelectProps<V>) {
  return (
    <Field {...words}>
      {(controlProps) => (
        <select
          {...controlProps}
          class="control select"
          value={value}
          disabled={disabled}
          onChange={(event) => onValue(event.currentTarget.value as V)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled === true} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type CheckboxProps = { label: string; hint?: string; checked: boolean; onChecked: (checked: boolean) => void; disabled?: boolean };

export function Checkbox({ label, hint, checked, onChecked, disabled = false }: CheckboxProps) {
  const id = useId();
  return (
    <div class="choice">
      <input
        type="checkbox"
        id={id}
        class="choice-box"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <label class="choice-label" for={id}>
        {label}
      </label>
      {hint !== undefined && (
        <p class="choice-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type RadioProps<V extends string> = {
  legend: string;
  value: V | null;
  options: readonly Option<V>[];
  onValue: (value: V) => void;
  /** Each option in a box, for options that need a hint. */
  boxes?: boolean;
};

export function Radio<V extends string>({ legend, value, options, onValue, boxes = false }: RadioProps<V>) {
  const name = useId();
  return (
    <fieldset class={joinClasses("choices", boxes && "choices-boxes")}>
      <legend class="field-label">{legend}</legend>
      {options.map((option) => (
        <div class="choice" key={option.value}>
          <input
            type="radio"
            id={`${name}-${option.value}`}
            name={name}
            class="choice-box"
            checked={option.value === value}
            disabled={option.disabled === true}
            aria-describedby={option.hint === undefined ? undefined : `${name}-${option.value}-hint`}
            onChange={() => onValue(option.value)}
          />
          <label class="choice-label" for={`${name}-${option.value}`}>
            {option.label}
          </label>
          {option.hint !== undefined && (
            <p class="choice-hint" id={`${name}-${option.value}-hint`}>
              {option.hint}
            </p>
          )}
        </div>
      ))}
    </fieldset>
  );
}
