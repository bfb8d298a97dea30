// An AI provider and its key, tried before anything is set.

import { Select } from "../ui/choice.tsx";
import { CheckModel } from "./check-model.tsx";
import { change, checkError, draft } from "./draft.ts";
import { Filled } from "./filled.tsx";
import { PasswordField } from "./password-field.tsx";
import { PROVIDERS } from "./providers.ts";
import type { StepProps } from "./step-props.ts";

export function ProviderWithKey({ errorOf }: StepProps) {
  const { provider, apiKey } = draft.value;
  const keys = PROVIDERS.find(({ id }) => id === provider)?.keys;
  return (
    <>
      <Filled field="provider">
        <Select
          label="Provider"
          error={checkError("provider") ?? errorOf("provider")}
          value={provider}
          onValue={(id) => change({ provider: id, model: "", baseUrl: "", apiKey: "" })}
          options={[{ value: "", label: "Choose one" }, ...PROVIDERS.map(({ id, title }) => ({ value: id, label: title }))]}
        />
      </Filled>
      {keys !== undefined && (
        <>
          <PasswordField
            label="Key"
            name="apiKey"
            hint={`Made at ${keys}. It is kept encrypted on this gateway and shown to nobody but the provider.`}
            error={checkError("apiKey") ?? errorOf("apiKey")}
            autocomplete="off"
            value={apiKey}
            onValue={(typed) => change({ apiKey: typed.trim() })}
          />
          <CheckModel errorOf={errorOf} isReady={apiKey !== ""} />
        </>
      )}
    </>
  );
}
