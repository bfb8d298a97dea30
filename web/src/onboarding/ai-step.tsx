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
        <Radio<AiKind> legend="Who answers" boxes value={aiKind} onValue={chooseAiKind} options={[makeGatewayModelOption(), ...OPTIONS]} />
      </GuidedField>
      {aiKind === "provider" && <ProviderWithKey errorOf={errorOf} />}
      {aiKind === "local" && <LocalServer errorOf={errorOf} />}
    </>
  );
}

const OPTIONS = [
  { value: "provider" as const, label: "An AI provider", hint: "Anthropic, OpenAI, Google and others, with your own key." },
  { value: "local" as const, label: "A server of your own", hint: "Ollama, LM Studio, llama.cpp or vLLM. Nothing leaves your machines." },
];

function makeGatewayModelOption() {
  const { provider, title, model } = gatewayModel.value!;
  if (provider === "demo")
    return {
      value: "own" as const,
      label: "The demo model",
      hint: "Not an AI: it knows a few plain requests and shows how agents work here. No key, free, and you can change it later.",
    };
  return { value: "own" as const, label: title, hint: `The gateway's own, ${model}. No key needed.` };
}

/** Clears provider and key if they belong to another kind: a key must not reach another provider. */
function chooseAiKind(aiKind: AiKind): void {
  const isLocal = LOCAL_PROVIDERS.includes(draft.peek().provider);
  const fits = aiKind === "own" || (aiKind === "local") === isLocal;
  changeDraft({ aiKind, ...(fits ? {} : { provider: "", model: "", baseUrl: "", apiKey: "" }) });
}
