// Who answers: the gateway's own model, a provider with a key, or a server of one's own.

import { Radio } from "../ui/choice.tsx";
import { type AiKind, change, draft, LOCAL_PROVIDERS } from "./draft.ts";
import { Filled } from "./filled.tsx";
import { own } from "./gateway.ts";
import { LocalServer } from "./local-server.tsx";
import { ProviderWithKey } from "./provider-with-key.tsx";
import type { StepProps } from "./step-props.ts";

export function AiStep({ errorOf }: StepProps) {
  const { aiKind } = draft.value;
  return (
    <>
      <Filled field="aiKind">
        <Radio<AiKind> legend="Who answers" boxes value={aiKind} onValue={choose} options={[ownOption(), ...OPTIONS]} />
      </Filled>
      {aiKind === "provider" && <ProviderWithKey errorOf={errorOf} />}
      {aiKind === "local" && <LocalServer errorOf={errorOf} />}
    </>
  );
}

const OPTIONS = [
  { value: "provider" as const, label: "An AI provider", hint: "Anthropic, OpenAI, Google and others, with your own key." },
  { value: "local" as const, label: "A server of your own", hint: "Ollama, LM Studio, llama.cpp or vLLM. Nothing leaves your machines." },
];

function ownOption() {
  const { provider, title, model } = own.value!;
  if (provider === "demo")
    return {
      value: "own" as const,
      label: "The demo model",
      hint: "Not an AI: it knows a few plain requests and shows how agents work here. No key, free, and you can change it later.",
    };
  return { value: "own" as const, label: title, hint: `The gateway's own, ${model}. No key needed.` };
}

/** A provider of the other kind is none of this one, and its key is nobody else's. */
function choose(aiKind: AiKind): void {
  const isLocal = LOCAL_PROVIDERS.includes(draft.peek().provider);
  const fits = aiKind === "own" || (aiKind === "local") === isLocal;
  change({ aiKind, ...(fits ? {} : { provider: "", model: "", baseUrl: "", apiKey: "" }) });
}
