// Where a model is: its provider, its name, its key and, for a server of one's own, its address.

import { useId } from "preact/hooks";
import { PROVIDERS } from "../../../src/models/providers.ts";
import { Checkbox, Select } from "../ui/choice.tsx";
import { Field, TextInput } from "../ui/field.tsx";
import type { Layer } from "./layer.ts";

/** `under` is what counts where nothing is stored. */
export type Edit = { value: (name: string) => string; set: (name: string, value: string) => void; stored: Layer; under: Layer };

const PROVIDER_NAMES: readonly { value: string; label: string }[] = [
  { value: "demo", label: "Demo model (needs nothing)" },
  ...Object.entries(PROVIDERS).map(([value, { title }]) => ({
    value,
    label: value === "openai-compatible" ? "Another server that speaks as OpenAI does" : title,
  })),
];

/** Says that the stored key is to go. */
export const REMOVE = "(remove)";

type PlaceProps = { edit: Edit; group: "" | "fallback/"; models: readonly string[] };

export function Place({ edit: { value, set, stored, under }, group, models }: PlaceProps) {
  const list = useId();
  const isFallback = group !== "";
  const provider = value(`${group}provider`);
  const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  const usual = under.get(`${group}provider`) ?? "";
  const key = `${group}api_key`;
  const typed = value(key) === REMOVE || value(key) === stored.get(key) ? "" : value(key);
  const isStored = (stored.get(key) ?? "") !== "";
  const isElsewhere =
    provider !== (stored.get(`${group}provider`) ?? "") || value(`${group}base_url`) !== (stored.get(`${group}base_url`) ?? "");
  return (
    <>
      <div class="field-grid">
        <Select
          label={isFallback ? "Fallback provider" : "Provider"}
          value={provider}
          options={[
            { value: "", label: isFallback ? "None" : `As usual (${usual || "the gateway's own"})` },
            ...(isFallback ? [{ value: "none", label: "None, whatever root set" }] : []),
            ...PROVIDER_NAMES,
            ...(provider === "" || provider === "none" || PROVIDER_NAMES.some((one) => one.value === provider)
              ? []
              : [{ value: provider, label: provider }]),
          ]}
          onValue={(to) => set(`${group}provider`, to)}
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
                placeholder={under.get(`${group}model`) ?? ""}
                value={value(`${group}model`)}
                onInput={(event) => set(`${group}model`, event.currentTarget.value)}
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
            hint={keyHint(isStored, isElsewhere, known?.needsKey === true)}
            placeholder={isStored && !isElsewhere ? "Stored" : ""}
            value={typed}
            onValue={(to) => set(key, to)}
          />
          <TextInput
            label={isFallback ? "Fallback address" : "Address"}
            type="url"
            hint="Only for a server of your own."
            placeholder={known?.baseUrl ?? under.get(`${group}base_url`) ?? ""}
            value={value(`${group}base_url`)}
            onValue={(to) => set(`${group}base_url`, to)}
          />
        </div>
      )}
      {isStored && !isElsewhere && (
        <Checkbox
          label={isFallback ? "Remove the stored key of the fallback" : "Remove the stored key"}
          checked={value(key) === REMOVE}
          onChecked={(isChecked) => set(key, isChecked ? REMOVE : "")}
        />
      )}
    </>
  );
}

function keyHint(isStored: boolean, isElsewhere: boolean, needsKey: boolean): string {
  if (isStored && isElsewhere) return "The stored key was for another place and will be removed. Give the one for this.";
  if (isStored) return "One is stored and is never shown. Leave empty to keep it.";
  return needsKey ? "This provider needs one. It is sealed at once and never shown again." : "Only if the server wants one.";
}
