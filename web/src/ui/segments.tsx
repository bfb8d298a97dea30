// A choice of a few short options beside each other, as radio buttons.

import { useId } from "preact/hooks";
import { joinClasses } from "./classes.ts";
import "./segments.css";

export type Segment<V extends string> = { value: V; label: string; tone?: "good" | "warn" | "bad"; disabled?: boolean };

type SegmentsProps<V extends string> = {
  legend: string;
  /** The legend is only for screen readers: visible text says the same. */
  isLegendHidden?: boolean;
  value: V;
  options: readonly Segment<V>[];
  onValue: (value: V) => void;
  disabled?: boolean;
};

export function Segments<V extends string>({
  legend,
  isLegendHidden = false,
  value,
  options,
  onValue,
  disabled = false,
}: SegmentsProps<V>) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class={isLegendHidden ? "unseen" : "field-label"}>{legend}</legend>
      <div class="segments-row">
        {options.map((option) => (
          <div class={joinClasses("segment", option.tone !== undefined && `segment-${option.tone}`)} key={option.value}>
            <input
              type="radio"
              class="segment-box"
              id={`${name}-${option.value}`}
              name={name}
              checked={option.value === value}
              disabled={disabled || option.disabled === true}
              onChange={() => onValue(option.value)}
            />
            <label class="segment-label" for={`${name}-${option.value}`}>
              {option.label}
            </label>
          </div>
        ))}
      </div>
    </fieldset>
  );
}
