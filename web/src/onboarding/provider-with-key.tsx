// An AI provider and its key, tested before set-up is applied.

import { Select } from "../ui/choice.tsx";
import { ModelCheck } from "./model-check.tsx";
import { changeDraft, modelCheckErrorOf, draft } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { PasswordField } from "./password-field.tsx";
import { PROVIDERS } from "../models/providers.ts";
import type { StepProps } from "./step-props.ts";

export function ProviderWithKey({ errorOf }: StepProps) {
  const { provider, apiKey } = draft.value;
  const keys = PROVIDERS.find(({ id }) => id === provider)?.keys;
  return (
    <>
      <GuidedField field="provider">
        <Select
          label="Provider"
          error={modelCheckErrorOf("provider") ?? errorOf("provider")}
          value={provider}
          // A key that was entered before any provider was chosen belongs to this one.
          onValue={(id) => changeDraft({ provider: id, model: "", baseUrl: "", ...(provider === "" ? {} : { apiKey: "" }) })}
          options={[{ value: "", label: "Choose…" }, ...PROVIDERS.map(({ id, title }) => ({ value: id, label: title }))]}
        />
      </GuidedField>
      {keys !== undefined && (
        <>
          <PasswordField
            label="API key"
            name="apiKey"
            hint={`Create one at ${keys}. It is stored encrypted on this gateway and sent only to the provider.`}
            error={modelCheckErrorOf("apiKey") ?? errorOf("apiKey")}
            autocomplete="off"
            value={apiKey}
            onValue={(typed) => changeDraft({ apiKey: typed.trim() })}
          />
          <ModelCheck errorOf={errorOf} isReady={apiKey !== ""} />
        </>
      )}
    </>
  );
}
