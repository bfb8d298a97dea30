// An AI provider and its key, tested before set-up is applied.

import { Select } from "../ui/choice.tsx";
import { ModelCheck } from "./model-check.tsx";
import { changeDraft, modelCheckErrorOf, draft } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { PasswordField } from "./password-field.tsx";
import { PROVIDERS } from "./providers.ts";
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
          onValue={(id) => changeDraft({ provider: id, model: "", baseUrl: "", apiKey: "" })}
          options={[{ value: "", label: "Choose one" }, ...PROVIDERS.map(({ id, title }) => ({ value: id, label: title }))]}
        />
      </GuidedField>
      {keys !== undefined && (
        <>
          <PasswordField
            label="Key"
            name="apiKey"
            hint={`Made at ${keys}. It is kept encrypted on this gateway and shown to nobody but the provider.`}
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
