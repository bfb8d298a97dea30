// The name of a model: chosen from those that the server lists, or typed.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";

type ModelPickerProps = {
  label: string;
  models: readonly string[];
  /** The model that counts if none is named. */
  inherited: string;
  value: string;
  onValue: (model: string) => void;
};

const ANOTHER = "(another)";

export function ModelPicker({ label, models, inherited, value, onValue }: ModelPickerProps) {
  const [isTyping, setTyping] = useState(false);
  if (models.length === 0 || isTyping)
    return (
      <TextInput
        label={label}
        hint={models.length > 0 ? "As the server calls it." : "Test the connection to choose from a list, or enter a name."}
        autocomplete="off"
        autocapitalize="none"
        placeholder={inherited}
        value={value}
        onValue={onValue}
      />
    );
  const shown = value === "" || models.includes(value) ? models : [value, ...models];
  return (
    <Select
      label={label}
      hint={models.length === 1 ? "The server has one model." : `The server has ${models.length} models.`}
      value={value}
      options={[
        ...(value === "" ? [{ value: "", label: inherited === "" ? "Choose a model" : `Default (${makeVisible(inherited)})` }] : []),
        ...shown.map((model) => ({ value: model, label: makeVisible(model) })),
        { value: ANOTHER, label: "Another model…" },
      ]}
      onValue={(to) => (to === ANOTHER ? setTyping(true) : onValue(to))}
    />
  );
}
