// Where answers come from: the default, the demo model, a provider with a key, or a model server of one's own.

import { useState } from "preact/hooks";
import { LOCAL_SERVERS, PROVIDERS, providerTitleOf } from "../models/providers.ts";
import { PROVIDERS as KNOWN_PROVIDERS } from "../../../src/models/providers.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { mayCall, session } from "../state/session.ts";
import { Radio, Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { FoundServers } from "./found-servers.tsx";
import { KeyField } from "./key-field.tsx";
import type { CheckOutcome } from "./model-check.tsx";
import { changeProvider, type ModelForm } from "./model-form.ts";
import { PrivateServer } from "./private-server.tsx";

type SourceKind = "default" | "demo" | "provider" | "server";

const OPENAI_COMPATIBLE = "openai-compatible";
const SERVERS = [...LOCAL_SERVERS.map(({ id }) => id), OPENAI_COMPATIBLE];

type ModelSourceProps = {
  form: ModelForm;
  isSystem: boolean;
  /** Of the last test of what the form says now. */
  outcome: CheckOutcome | null;
  onModels: (models: readonly string[]) => void;
};

export function ModelSource({ form, isSystem, outcome, onModels }: ModelSourceProps) {
  const { value, inherited } = form;
  const provider = value("provider");
  /** Chosen, but no provider of that kind yet. */
  const [chosen, setChosen] = useState<SourceKind | null>(null);
  const kind = chosen ?? kindOf(provider);
  const choose = (to: SourceKind) => {
    setChosen(to);
    onModels([]);
    const stored = form.stored.get("provider") ?? "";
    if (kindOf(stored) === to) changeProvider(form, "", stored);
    else changeProvider(form, "", to === "demo" ? "demo" : to === "server" ? LOCAL_SERVERS[0]!.id : "");
  };
  const select = (id: string) => {
    onModels([]);
    changeProvider(form, "", id);
  };
  const options: { value: SourceKind; label: string; hint: string }[] = [
    { value: "provider", label: "An AI provider", hint: "Anthropic, OpenAI, Google and others, with your own key." },
    { value: "server", label: "A model server of your own", hint: "Ollama, LM Studio, llama.cpp, vLLM or any OpenAI-compatible server." },
    { value: "demo", label: "The demo model", hint: "Not an AI: it answers a few simple requests. Free, without a key." },
  ];
  if (!isSystem)
    options.unshift({
      value: "default",
      label: `Default (${nameModel(inherited.get("provider"), inherited.get("model"))})`,
      hint: "As set for everyone.",
    });
  return (
    <>
      <Radio<SourceKind> legend="Which model should answer?" boxes value={kind} options={options} onValue={choose} />
      {kind === "provider" && (
        <>
          <Select
            label="Provider"
            value={provider}
            options={[
              { value: "", label: "Choose a provider" },
              ...PROVIDERS.map(({ id, title }) => ({ value: id, label: title })),
              // Such as Workers AI, where the gateway has it.
              ...(provider === "" || PROVIDERS.some(({ id }) => id === provider)
                ? []
                : [{ value: provider, label: makeVisible(providerTitleOf(provider)) }]),
            ]}
            onValue={select}
          />
          {provider !== "" && (
            <div id="setting-key">
              <KeyField form={form} group="" label="API key" isRequired={KNOWN_PROVIDERS[provider]?.needsKey === true} />
            </div>
          )}
        </>
      )}
      {kind === "server" && (
        <>
          {/* Only root's requests reach the gateway's own machine. */}
          {session.value?.identity.process.uid === 0 && mayCall("ai.check") && (
            <FoundServers
              isSearchingAtOnce={kindOf(form.stored.get("provider") ?? "") !== "server"}
              selected={value("base_url") === "" ? provider : ""}
              onSelect={({ provider: found, model, models }) => {
                changeProvider(form, "", found);
                form.change({ model, base_url: "" });
                onModels(models ?? []);
              }}
            />
          )}
          <div class="field-grid">
            <Select
              label="Server"
              value={provider}
              options={SERVERS.map((id) => ({ value: id, label: providerTitleOf(id) }))}
              onValue={select}
            />
            <TextInput
              label="Address"
              type="url"
              hint="As the gateway reaches it. Leave empty for the usual address."
              error={addressError(value("base_url"), provider)}
              placeholder={KNOWN_PROVIDERS[provider]?.baseUrl ?? "http://127.0.0.1:8080/v1"}
              value={value("base_url")}
              onValue={(to) => form.change({ base_url: to })}
            />
          </div>
          <PrivateServer form={form} outcome={outcome} />
          <KeyField form={form} group="" label="API key" isRequired={false} />
        </>
      )}
    </>
  );
}

/** "qwen3 on Ollama", for people. */
export function nameModel(provider = "", model = ""): string {
  if (provider === "" || provider === "demo") return "demo";
  const title = makeVisible(providerTitleOf(provider));
  return model === "" ? title : `${makeVisible(model)} on ${title}`;
}

export function addressError(address: string, provider: string): string | null {
  if (address.trim() === "")
    return provider === OPENAI_COMPATIBLE ? "Enter the address of the server, such as http://127.0.0.1:8080/v1." : null;
  return isHttpUrl(address.trim()) ? null : "Enter a whole address, such as http://127.0.0.1:8080/v1.";
}

function kindOf(provider: string): SourceKind {
  if (provider === "") return "default";
  if (provider === "demo") return "demo";
  return SERVERS.includes(provider) ? "server" : "provider";
}
