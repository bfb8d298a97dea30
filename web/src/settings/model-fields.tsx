// The form fields of a model: provider, name, key and, for the user's own server, its address.

import { useId } from "preact/hooks";
import { PROVIDERS } from "../../../src/models/providers.ts";
import { Checkbox, Select } from "../ui/choice.tsx";
import { Field, TextInput } from "../ui/field.tsx";
import type { Layer } from "./settings-layer.ts";

/** `inherited`: the settings that apply where nothing is stored. */
export type SettingsForm = {
  value: (name: string) => string;
  change: (name: string, value: string) => void;
  stored: Layer;
  inherited: Layer;
};

const PROVIDER_OPTIONS: readonly { value: string; label: string }[] = [
  { value: "demo", label: "Demo model (needs nothing)" },
  ...Object.entries(PROVIDERS).map(([value, { title }]) => ({
    value,
    label: value === "openai-compatible" ? "Another server that speaks as OpenAI does" : title,
  })),
];

/** The value of a key field that means: remove the stored key. */
export const REMOVE_KEY = "(remove)";

type ModelFieldsProps = { form: SettingsForm; group: "" | "fallback/"; models: readonly string[] };

export function ModelFields({ form: { value, change, stored, inherited }, group, models }: ModelFieldsProps) {
  const list = useId();
  const isFallback = group !== "";
  const provider = value(`${group}provider`);
  const providerInfo = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  const inheritedProvider = inherited.get(`${group}provider`) ?? "";
  const key = `${group}api_key`;
  const typedKey = value(key) === REMOVE_KEY || value(key) === stored.get(key) ? "" : value(key);
  const isStored = (stored.get(key) ?? "") !== "";
  const isOtherEndpoint =
    provider !== (stored.get(`${group}provider`) ?? "") || value(`${group}base_url`) !== (stored.get(`${group}base_url`) ?? "");
  return (
    <>
      <div class="field-grid">
        <Select
          label={isFallback ? "Fallback provider" : "Provider"}
          value={provider}
          options={[
            { value: "", label: isFallback ? "None" : `As usual (${inheritedProvider || "the gateway's own"})` },
            ...(isFallback ? [{ value: "none", label: "None, whatever root set" }] : []),
            ...PROVIDER_OPTIONS,
            ...(provider === "" || provider === "none" || PROVIDER_OPTIONS.some((one) => one.value === provider)
              ? []
              : [{ value: provider, label: provider }]),
          ]}
          onValue={(to) => change(`${group}provider`, to)}
        />
        <Field
          label={isFallback ? "Fallback model" : "Model"}
          hint={models.length > 0 ? `${models.length} to choose from. Type to search.` : "As the provider calls it."}
        >
          {(controlProps) => (
            <>
              <input
                {...controlProps}
                class="control"
                list={list}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                placeholder={inherited.get(`${group}model`) ?? ""}
                value={value(`${group}model`)}
                onInput={(event) => change(`${group}model`, event.currentTarget.value)}
              />
              <datalist id={list}>
                {models.map((model) => (
                  <option key={model} value={model} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      </div>
      {!["", "demo", "none"].includes(provider) && (
        <div class="field-grid">
          <TextInput
            label={isFallback ? "Fallback key" : "Key"}
            type="password"
            autocomplete="off"
            hint={keyHint(isStored, isOtherEndpoint, providerInfo?.needsKey === true)}
            placeholder={isStored && !isOtherEndpoint ? "Stored" : ""}
            value={typedKey}
            onValue={(to) => change(key, to)}
          />
          <TextInput
            label={isFallback ? "Fallback address" : "Address"}
            type="url"
            hint="Only for a server of your own."
            placeholder={providerInfo?.baseUrl ?? inherited.get(`${group}base_url`) ?? ""}
            value={value(`${group}base_url`)}
            onValue={(to) => change(`${group}base_url`, to)}
          />
        </div>
      )}
      {isStored && !isOtherEndpoint && (
        <Checkbox
          label={isFallback ? "Remove the stored key of the fallback" : "Remove the stored key"}
          checked={value(key) === REMOVE_KEY}
          onChecked={(isChecked) => change(key, isChecked ? REMOVE_KEY : "")}
        />
      )}
    </>
  );
}

function keyHint(isStored: boolean, isOtherEndpoint: boolean, needsKey: boolean): string {
  if (isStored && isOtherEndpoint) return "The stored key was for another place and will be removed. Give the one for this.";
  if (isStored) return "One is stored and is never shown. Leave empty to keep it.";
  return needsKey ? "This provider needs one. It is sealed at once and never shown again." : "Only if the server wants one.";
}
