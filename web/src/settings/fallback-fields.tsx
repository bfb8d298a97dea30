// The model that answers where the first one cannot.

import { PROVIDERS } from "../../../src/models/providers.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { PROVIDERS as OFFERED, LOCAL_SERVERS, providerTitleOf } from "../models/providers.ts";
import { Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { KeyField } from "./key-field.tsx";
import { changeProvider, type ModelForm } from "./model-form.ts";
import { addressError } from "./model-source.tsx";

const OFFERED_IDS = ["demo", ...OFFERED.map(({ id }) => id), ...LOCAL_SERVERS.map(({ id }) => id), "openai-compatible"];

export function FallbackFields({ form, isSystem }: { form: ModelForm; isSystem: boolean }) {
  const { value, inherited } = form;
  const provider = value("fallback/provider");
  const isNone = provider === "" || provider === "none";
  const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  return (
    <>
      <div class="field-grid">
        <Select
          label="Fallback provider"
          value={provider}
          options={[
            { value: "", label: isSystem ? "None" : `Default (${makeVisible(inherited.get("fallback/provider") || "none")})` },
            ...(isSystem ? [] : [{ value: "none", label: "None" }]),
            ...[...OFFERED_IDS, ...(isNone || OFFERED_IDS.includes(provider) ? [] : [provider])].map((id) => ({
              value: id,
              label: id === "demo" ? "Demo model" : makeVisible(providerTitleOf(id)),
            })),
          ]}
          onValue={(to) => changeProvider(form, "fallback/", to)}
        />
        {!isNone && provider !== "demo" && (
          <TextInput
            label="Fallback model"
            hint="As the provider calls it."
            autocomplete="off"
            autocapitalize="none"
            placeholder={inherited.get("fallback/model") ?? ""}
            value={value("fallback/model")}
            onValue={(to) => form.change({ "fallback/model": to })}
          />
        )}
      </div>
      {!isNone && provider !== "demo" && (
        <div class="field-grid">
          <KeyField form={form} group="fallback/" label="Fallback key" isRequired={known?.needsKey === true} />
          {known?.needsKey !== true && (
            <TextInput
              label="Fallback address"
              type="url"
              error={addressError(value("fallback/base_url"), provider)}
              placeholder={known?.baseUrl ?? ""}
              value={value("fallback/base_url")}
              onValue={(to) => form.change({ "fallback/base_url": to })}
            />
          )}
        </div>
      )}
    </>
  );
}
