// The model, its endpoint and its limits. A key is only used for the endpoint it was stored for: after a change of the provider or
// its address, the user must enter a key again.

import { useEffect, useState } from "preact/hooks";
import { showNotice } from "../state/notices.ts";
import { mayCall } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { type Layer, SYSTEM_PREFIX, useLayer, writeSettings } from "./settings-layer.ts";
import { type SettingsForm, ModelFields, REMOVE_KEY } from "./model-fields.tsx";
import { ModelCheck, type ModelSettings } from "./model-check.tsx";
import { useSettingsScope, ScopeSwitch } from "./scope-switch.tsx";

type Draft = Readonly<Record<string, string>>;

const REASONING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
const EMPTY_LAYER: Layer = new Map();

export function AiSettings() {
  const [scope, setSystem] = useSettingsScope();
  const layer = useLayer(scope.prefix);
  const system = useLayer(SYSTEM_PREFIX);
  return (
    <Card title="AI" text="The model that agents think with.">
      <ScopeSwitch isSystem={scope.isSystem} onSystem={setSystem} />
      <Loaded latest={layer} label="Loading the settings of AI">
        {(stored) => (
          <Form
            key={scope.prefix}
            prefix={scope.prefix}
            stored={stored}
            inherited={scope.isSystem ? EMPTY_LAYER : (system.value.value ?? EMPTY_LAYER)}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Form({ prefix, stored, inherited }: { prefix: string; stored: Layer; inherited: Layer }) {
  const [draft, setDraft] = useState<Draft>({});
  const [models, setModels] = useState<readonly string[]>([]);
  const operation = useOperation();
  const form: SettingsForm = {
    value: (name) => draft[name] ?? stored.get(name) ?? "",
    change: (name, value) => setDraft((before) => ({ ...before, [name]: value })),
    stored,
    inherited,
  };
  const changes = listChanges(draft, stored);
  const save = async () => {
    const isSaved = await operation.run(() => writeSettings(prefix, changes));
    if (!isSaved) return;
    setDraft({});
    showNotice("Saved. New runs use it", "good");
  };
  useUnsavedWarning(changes.length > 0);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <ModelFields form={form} group="" models={models} />
      {mayCall("ai.check") && <ModelCheck settings={readModelSettings(form)} onModels={setModels} />}
      <div class="field-grid">
        <Select
          label="Reasoning"
          hint="How long it thinks before it answers, where the model can."
          value={form.value("reasoning")}
          options={[
            { value: "", label: `As usual (${inherited.get("reasoning") || "off"})` },
            ...REASONING_LEVELS.map((level) => ({ value: level as string, label: level === "xhigh" ? "very high" : level })),
          ]}
          onValue={(value) => form.change("reasoning", value)}
        />
        <TextInput
          label="Longest answer, in tokens"
          inputMode="numeric"
          placeholder={inherited.get("max_tokens") || "8192"}
          error={wholeNumberError(form.value("max_tokens"))}
          value={form.value("max_tokens")}
          onValue={(value) => form.change("max_tokens", value)}
        />
        <TextInput
          label="Context, in tokens"
          hint="Only where the gateway does not know the model."
          inputMode="numeric"
          placeholder={inherited.get("context_window_tokens") || "as the model has it"}
          error={wholeNumberError(form.value("context_window_tokens"))}
          value={form.value("context_window_tokens")}
          onValue={(value) => form.change("context_window_tokens", value)}
        />
      </div>
      <details>
        <summary>Fallback: who answers where the model above cannot</summary>
        <div class="stack settings-more">
          <ModelFields form={form} group="fallback/" models={[]} />
        </div>
      </details>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      <div class="row">
        <Button type="submit" look="primary" busy={operation.isBusy} disabled={changes.length === 0 || hasError(form)}>
          Save
        </Button>
        {changes.length > 0 && (
          <Button look="quiet" onClick={() => setDraft({})}>
            Undo changes
          </Button>
        )}
      </div>
    </form>
  );
}

/** A stored key is left empty, because the page does not know it: the gateway uses it if the endpoint is unchanged. */
function readModelSettings({ value, stored }: SettingsForm): ModelSettings {
  const key = value("api_key");
  const isTyped = key !== REMOVE_KEY && key !== stored.get("api_key");
  return {
    provider: value("provider"),
    model: value("model").trim(),
    apiKey: isTyped ? key.trim() : "",
    baseUrl: value("base_url").trim(),
  };
}

/** A key of the old endpoint is removed before the new endpoint is written; a new key is written after it. */
function listChanges(draft: Draft, stored: Layer): [string, string][] {
  const changed = Object.entries(draft).filter(([name, value]) => !name.endsWith("api_key") && value.trim() !== (stored.get(name) ?? ""));
  const removedKeys: [string, string][] = [];
  const newKeys: [string, string][] = [];
  for (const group of ["", "fallback/"]) {
    const isOtherEndpoint = changed.some(([name]) => name === `${group}provider` || name === `${group}base_url`);
    const key = `${group}api_key`;
    const hasKey = stored.get(key) !== undefined && stored.get(key) !== "";
    if ((isOtherEndpoint && hasKey) || draft[key] === REMOVE_KEY) removedKeys.push([key, ""]);
    const newKey = draft[key]?.trim() ?? "";
    if (newKey !== "" && newKey !== REMOVE_KEY) newKeys.push([key, newKey]);
  }
  return [...removedKeys, ...changed.map(([name, value]): [string, string] => [name, value.trim()]), ...newKeys];
}

function wholeNumberError(text: string): string | null {
  return text.trim() === "" || /^[1-9]\d{0,8}$/.test(text.trim()) ? null : "A whole number, or nothing.";
}

function hasError({ value }: SettingsForm): boolean {
  return [value("max_tokens"), value("context_window_tokens")].some((text) => wholeNumberError(text) !== null);
}

/** The browser asks before it discards unsaved changes. */
function useUnsavedWarning(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return;
    const preventUnload = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", preventUnload);
    return () => removeEventListener("beforeunload", preventUnload);
  }, [isDirty]);
}
