// The choice of model: the gateway's own, a provider with a key, or the user's own server.

import { Radio } from "../ui/choice.tsx";
import { type AiKind, changeDraft, draft, LOCAL_PROVIDERS } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { gatewayModel } from "./setup-calls.ts";
import { LocalServer } from "./local-server.tsx";
import { ProviderWithKey } from "./provider-with-key.tsx";
import type { StepProps } from "./step-props.ts";

export function AiStep({ errorOf }: StepProps) {
  const { aiKind } = draft.value;
  return (
    <>
      <GuidedField field="aiKind">
        <Radio<AiKind>
          legend="Which model should answer?"
          boxes
          value={aiKind}
          onValue={chooseAiKind}
          options={[makeGatewayModelOption(), ...OPTIONS]}
        />
      </GuidedField>
      {aiKind === "provider" && <ProviderWithKey errorOf={errorOf} />}
      {aiKind === "local" && <LocalServer errorOf={errorOf} />}
    </>
  );
}

const OPTIONS = [
  { value: "provider" as const, label: "AI provider", hint: "Anthropic, OpenAI, Google and others, with your key." },
  { value: "local" as const, label: "Your own model server", hint: "Ollama, LM Studio, llama.cpp, vLLM or any OpenAI-compatible server." },
];

function makeGatewayModelOption() {
  const { provider, title, model } = gatewayModel.value!;
  if (provider === "demo")
    return {
      value: "own" as const,
      label: "Demo",
      hint: "Not an AI: it understands a few fixed requests. Free, no key, and you can choose a model later.",
    };
  return { value: "own" as const, label: title, hint: `This gateway's model, ${model}. No key needed.` };
}

/** Clears provider and key if they belong to another kind: a key must not reach another provider. */
function chooseAiKind(aiKind: AiKind): void {
  const isLocal = LOCAL_PROVIDERS.includes(draft.peek().provider);
  const fits = aiKind === "own" || (aiKind === "local") === isLocal;
  changeDraft({ aiKind, ...(fits ? {} : { provider: "", model: "", baseUrl: "", apiKey: "" }) });
}
