// The key of a provider or server. A stored key is never shown; it counts only for the endpoint that it was stored for.

import { PROVIDERS as KEY_PROVIDERS } from "../models/providers.ts";
import { Checkbox } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { type Group, hasStoredKey, isOtherEndpoint, type ModelForm, REMOVE_KEY, typedKeyOf } from "./model-form.ts";

type KeyFieldProps = { form: ModelForm; group: Group; label: string; isRequired: boolean; error?: string | null };

export function KeyField({ form, group, label, isRequired, error = null }: KeyFieldProps) {
  const { value, change } = form;
  const key = `${group}api_key`;
  const isStored = hasStoredKey(form, group);
  const isOther = isOtherEndpoint(form, group);
  const site = KEY_PROVIDERS.find(({ id }) => id === value(`${group}provider`))?.keys;
  const hint =
    isStored && isOther
      ? "The stored key was for another place and will be removed. Enter the one for this."
      : isStored
        ? "One is stored and is never shown. Leave empty to keep it."
        : site !== undefined
          ? `Create one at ${site}. It is stored encrypted and never shown again.`
          : isRequired
            ? "It is stored encrypted and never shown again."
            : "Only if the server asks for one.";
  return (
    <>
      <TextInput
        label={label}
        type="password"
        autocomplete="off"
        hint={hint}
        error={error}
        placeholder={isStored && !isOther ? "Stored" : ""}
        value={typedKeyOf(form, group)}
        onValue={(to) => change({ [key]: to })}
      />
      {isStored && !isOther && (
        <Checkbox
          label={group === "" ? "Remove the stored key" : "Remove the stored key of the fallback"}
          checked={value(key) === REMOVE_KEY}
          onChecked={(isChecked) => change({ [key]: isChecked ? REMOVE_KEY : "" })}
        />
      )}
    </>
  );
}
