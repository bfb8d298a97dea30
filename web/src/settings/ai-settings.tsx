// The model, its endpoint and its limits. A key is only used for the endpoint it was stored for: after a change of the provider or
// its address, the user must enter a key again.

import { useState } from "preact/hooks";
import { mayCall } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { FallbackFields } from "./fallback-fields.tsx";
import { useKeptDraft } from "./kept-draft.ts";
import { type CheckOutcome, keyOfSettings, ModelCheck, type ModelSettings } from "./model-check.tsx";
import { type Draft, listChanges, type ModelForm, typedKeyOf } from "./model-form.ts";
import { ModelPicker } from "./model-picker.tsx";
import { addressError, ModelSource, nameModel } from "./model-source.tsx";
import { SaveBar } from "./save-bar.tsx";
import { ScopeSwitch, useSettingsScope } from "./scope-switch.tsx";
import { Setting } from "./setting.tsx";
import { type Layer, SYSTEM_PREFIX, useLayer, withoutSaved, writeSettings } from "./settings-layer.ts";

const LEVELS: Readonly<Record<string, string>> = {
  off: "Off",
  minimal: "Minimal",
  low: "Low",
  medium: "Medium",
  high: "High",
  xhigh: "Very high",
};
const EMPTY_LAYER: Layer = new Map();

export function AiSettings() {
  const [scope, setSystem] = useSettingsScope();
  const layer = useLayer(scope.prefix);
  const system = useLayer(SYSTEM_PREFIX);
  return (
    <>
      <ScopeSwitch isSystem={scope.isSystem} onSystem={setSystem} text="Used wherever somebody has set nothing of their own." />
      <Loaded latest={layer} label="Loading the settings of AI">
        {(stored) => (
          <Form
            key={scope.prefix}
            scope={scope}
            stored={stored}
            inherited={scope.isSystem ? EMPTY_LAYER : (system.value.value ?? EMPTY_LAYER)}
            onSaved={() => layer.refetch()}
          />
        )}
      </Loaded>
    </>
  );
}

type FormProps = { scope: { isSystem: boolean; prefix: string }; stored: Layer; inherited: Layer; onSaved: () => Promise<void> };

function Form({ scope: { isSystem, prefix }, stored, inherited, onSaved }: FormProps) {
  const [draft, setDraft] = useKeptDraft<Draft>(
    { page: "ai", title: "AI", part: prefix },
    {},
    (draft) => listChanges(draft, stored).length > 0,
  );
  const [models, setModels] = useState<readonly string[]>([]);
  const [savedAt, setSavedAt] = useState<number | null>(null);
  const [lastOutcome, setLastOutcome] = useState<CheckOutcome | null>(null);
  /** What was saved last had failed its test. */
  const [hasFailedTest, setFailedTest] = useState(false);
  const [discards, setDiscards] = useState(0);
  const operation = useOperation();
  const form: ModelForm = {
    value: (name) => draft[name] ?? stored.get(name) ?? "",
    change: (values) => setDraft((before) => ({ ...before, ...values })),
    stored,
    inherited,
  };
  const { value } = form;
  const changes = listChanges(draft, stored);
  const provider = value("provider");
  const isOwnEndpoint = provider !== "" && provider !== "demo";
  const settings = readModelSettings(form);
  const outcome = lastOutcome?.key === keyOfSettings(settings) ? lastOutcome : null;
  const save = async () => {
    const isSaved = await operation.run(async () => {
      await writeSettings(prefix, changes);
      await onSaved();
    });
    if (!isSaved) return;
    setFailedTest(outcome?.isGood === false);
    setDraft((current) => withoutSaved(current, draft));
    setSavedAt(Date.now());
  };
  const setOutcome = (next: CheckOutcome | null) => {
    setLastOutcome(next);
    if (next?.isGood === true) setFailedTest(false);
  };
  return (
    <form
      class="settings-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (changes.length > 0 && !hasError(form)) void save();
      }}
    >
      <Setting anchor="model">
        <Card title="Model" actions={<ActiveModel stored={stored} inherited={inherited} />}>
          <ModelSource key={discards} form={form} isSystem={isSystem} outcome={outcome} onModels={setModels} />
          {isOwnEndpoint && (
            <ModelPicker
              label="Model"
              models={models}
              inherited={provider === inherited.get("provider") ? (inherited.get("model") ?? "") : ""}
              value={value("model")}
              onValue={(model) => form.change({ model })}
            />
          )}
          {mayCall("ai.check") && isOwnEndpoint && (
            <ModelCheck
              settings={settings}
              isReady={addressError(settings.baseUrl, provider) === null}
              outcome={outcome}
              onOutcome={setOutcome}
              onModels={setModels}
            />
          )}
        </Card>
      </Setting>
      <Card title="Answers">
        <div class="field-grid">
          <Setting anchor="thinking">
            <Select
              label="Thinking"
              hint="How long it thinks before it answers, where the model can."
              value={value("reasoning")}
              options={[
                { value: "", label: `Default (${LEVELS[inherited.get("reasoning") || "off"]?.toLowerCase() ?? "off"})` },
                ...Object.entries(LEVELS).map(([level, label]) => ({ value: level, label })),
              ]}
              onValue={(reasoning) => form.change({ reasoning })}
            />
          </Setting>
          <Setting anchor="length">
            <TextInput
              label="Longest answer, in tokens"
              hint="Leave blank for the default."
              inputMode="numeric"
              placeholder={inherited.get("max_tokens") || "8192"}
              error={wholeNumberError(value("max_tokens"))}
              value={value("max_tokens")}
              onValue={(max_tokens) => form.change({ max_tokens })}
            />
          </Setting>
          <TextInput
            label="Context, in tokens"
            hint="Only for models that the gateway does not know."
            inputMode="numeric"
            placeholder={inherited.get("context_window_tokens") || "of the model"}
            error={wholeNumberError(value("context_window_tokens"))}
            value={value("context_window_tokens")}
            onValue={(context_window_tokens) => form.change({ context_window_tokens })}
          />
        </div>
      </Card>
      <Setting anchor="fallback">
        <Card title="Fallback" text="Answers when the model above cannot.">
          <FallbackFields form={form} isSystem={isSystem} />
        </Card>
      </Setting>
      <SaveBar
        operation={operation}
        hasChanges={changes.length > 0}
        hasError={hasError(form)}
        savedAt={savedAt}
        warning={hasFailedTest ? "Saved, but it does not answer yet" : null}
        onDiscard={() => {
          setDraft({});
          setDiscards(discards + 1);
        }}
      />
    </form>
  );
}

/** The model that answers now. */
function ActiveModel({ stored, inherited }: { stored: Layer; inherited: Layer }) {
  const own = stored.get("provider") ?? "";
  const provider = own || inherited.get("provider") || "";
  const model = stored.get("model") || (provider === inherited.get("provider") ? (inherited.get("model") ?? "") : "");
  return (
    <Badge tone={provider === "" || provider === "demo" ? "plain" : "good"} dot>
      Active: {nameModel(provider, model)}
    </Badge>
  );
}

/** A stored key is left empty, because the page does not know it: the gateway uses it if the endpoint is unchanged. */
function readModelSettings(form: ModelForm): ModelSettings {
  const { value } = form;
  return { provider: value("provider"), model: value("model").trim(), apiKey: typedKeyOf(form, ""), baseUrl: value("base_url").trim() };
}

function wholeNumberError(text: string): string | null {
  return text.trim() === "" || /^[1-9]\d{0,8}$/.test(text.trim()) ? null : "Enter a whole number, or leave blank.";
}

function hasError({ value }: ModelForm): boolean {
  return (
    ["max_tokens", "context_window_tokens"].some((name) => wholeNumberError(value(name)) !== null) ||
    ["", "fallback/"].some((group) => addressError(value(`${group}base_url`), value(`${group}provider`)) !== null)
  );
}
