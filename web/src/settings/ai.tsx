// Which model answers, how it is reached, and how much it may say. A key goes only where it was stored for: who changes the
// provider or its address gives the key again.

import { useEffect, useState } from "preact/hooks";
import { showNotice } from "../state/notices.ts";
import { may } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { type Layer, SYSTEM, useLayer, write } from "./layer.ts";
import { type Edit, Place, REMOVE } from "./ai-place.tsx";
import { CheckModel, type Tried } from "./check-model.tsx";
import { useWhose, WhoseChoice } from "./scope-switch.tsx";

type Draft = Readonly<Record<string, string>>;

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
const NO_LAYER: Layer = new Map();

export function Ai() {
  const [whose, setSystem] = useWhose();
  const layer = useLayer(whose.prefix);
  const system = useLayer(SYSTEM);
  return (
    <Card title="AI" text="The model that agents think with.">
      <WhoseChoice isSystem={whose.isSystem} onSystem={setSystem} />
      <Loaded latest={layer} label="Loading the settings of AI">
        {(stored) => (
          <Form
            key={whose.prefix}
            prefix={whose.prefix}
            stored={stored}
            under={whose.isSystem ? NO_LAYER : (system.value.value ?? NO_LAYER)}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Form({ prefix, stored, under }: { prefix: string; stored: Layer; under: Layer }) {
  const [draft, setDraft] = useState<Draft>({});
  const [models, setModels] = useState<readonly string[]>([]);
  const operation = useOperation();
  const edit: Edit = {
    value: (name) => draft[name] ?? stored.get(name) ?? "",
    set: (name, value) => setDraft((before) => ({ ...before, [name]: value })),
    stored,
    under,
  };
  const changes = changesOf(draft, stored);
  const save = async () => {
    const isDone = await operation.run(() => write(prefix, changes));
    if (!isDone) return;
    setDraft({});
    showNotice("Saved. New runs use it", "good");
  };
  useLeaving(changes.length > 0);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Place edit={edit} group="" models={models} />
      {may("ai.check") && <CheckModel tried={triedOf(edit)} onModels={setModels} />}
      <div class="field-grid">
        <Select
          label="Reasoning"
          hint="How long it thinks before it answers, where the model can."
          value={edit.value("reasoning")}
          options={[
            { value: "", label: `As usual (${under.get("reasoning") || "off"})` },
            ...LEVELS.map((level) => ({ value: level as string, label: level === "xhigh" ? "very high" : level })),
          ]}
          onValue={(value) => edit.set("reasoning", value)}
        />
        <TextInput
          label="Longest answer, in tokens"
          inputMode="numeric"
          placeholder={under.get("max_tokens") || "8192"}
          error={wholeOrEmpty(edit.value("max_tokens"))}
          value={edit.value("max_tokens")}
          onValue={(value) => edit.set("max_tokens", value)}
        />
        <TextInput
          label="Context, in tokens"
          hint="Only where the gateway does not know the model."
          inputMode="numeric"
          placeholder={under.get("context_window_tokens") || "as the model has it"}
          error={wholeOrEmpty(edit.value("context_window_tokens"))}
          value={edit.value("context_window_tokens")}
          onValue={(value) => edit.set("context_window_tokens", value)}
        />
      </div>
      <details>
        <summary>Fallback: who answers where the model above cannot</summary>
        <div class="stack settings-more">
          <Place edit={edit} group="fallback/" models={[]} />
        </div>
      </details>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      <div class="row">
        <Button type="submit" look="primary" busy={operation.isBusy} disabled={changes.length === 0 || hasMistake(edit)}>
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

/** Of a key that is stored the page knows nothing: the gateway takes it where the place is the same. */
function triedOf({ value, stored }: Edit): Tried {
  const key = value("api_key");
  const isTyped = key !== REMOVE && key !== stored.get("api_key");
  return {
    provider: value("provider"),
    model: value("model").trim(),
    apiKey: isTyped ? key.trim() : "",
    baseUrl: value("base_url").trim(),
  };
}

/** A key that was stored for another place is taken away before that place is written, a new one comes after it. */
function changesOf(draft: Draft, stored: Layer): [string, string][] {
  const changed = Object.entries(draft).filter(([name, value]) => !name.endsWith("api_key") && value.trim() !== (stored.get(name) ?? ""));
  const before: [string, string][] = [];
  const after: [string, string][] = [];
  for (const group of ["", "fallback/"]) {
    const isElsewhere = changed.some(([name]) => name === `${group}provider` || name === `${group}base_url`);
    const key = `${group}api_key`;
    const isSet = stored.get(key) !== undefined && stored.get(key) !== "";
    if ((isElsewhere && isSet) || draft[key] === REMOVE) before.push([key, ""]);
    const given = draft[key]?.trim() ?? "";
    if (given !== "" && given !== REMOVE) after.push([key, given]);
  }
  return [...before, ...changed.map(([name, value]): [string, string] => [name, value.trim()]), ...after];
}

function wholeOrEmpty(text: string): string | null {
  return text.trim() === "" || /^[1-9]\d{0,8}$/.test(text.trim()) ? null : "A whole number, or nothing.";
}

function hasMistake({ value }: Edit): boolean {
  return [value("max_tokens"), value("context_window_tokens")].some((text) => wholeOrEmpty(text) !== null);
}

/** What was typed and not saved is not lost by a slip. */
function useLeaving(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return;
    const stay = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", stay);
    return () => removeEventListener("beforeunload", stay);
  }, [isDirty]);
}
