// How much agents may use: for one run, one agent, and all agents of a user per day. Work that exceeds a limit waits for approval. If
// both root and a user set a limit, the stricter one applies.

import { useState } from "preact/hooks";
import { useOperation } from "../state/use-operation.ts";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { useKeptDraft } from "./kept-draft.ts";
import {
  encodeLimit,
  formatLimit,
  LIMIT_FIELDS,
  limitError,
  type LimitField,
  LIMIT_SCOPES,
  type LimitScope,
  UNLIMITED,
} from "./limit-fields.ts";
import { LimitUse } from "./limit-use.tsx";
import { SaveBar } from "./save-bar.tsx";
import { ScopeSwitch, useSettingsScope } from "./scope-switch.tsx";
import { Setting } from "./setting.tsx";
import { type Layer, SYSTEM_PREFIX, useLayer, withoutSaved, writeSettings } from "./settings-layer.ts";
import { Spending } from "./spending.tsx";

const EMPTY_LAYER: Layer = new Map();
const [COST, ...OTHERS] = LIMIT_FIELDS;

export function Limits() {
  const [scope, setSystem] = useSettingsScope();
  const layer = useLayer(scope.prefix);
  const system = useLayer(SYSTEM_PREFIX);
  return (
    <>
      <ScopeSwitch isSystem={scope.isSystem} onSystem={setSystem} text="Nobody can raise these for themselves." />
      <Loaded latest={layer} label="Loading limits">
        {(stored) => (
          <Form
            key={scope.prefix}
            prefix={scope.prefix}
            stored={stored}
            inherited={scope.isSystem ? EMPTY_LAYER : (system.value.value ?? EMPTY_LAYER)}
            onSaved={() => layer.refetch()}
          />
        )}
      </Loaded>
      <Setting anchor="used">
        <Spending />
      </Setting>
    </>
  );
}

type Draft = Readonly<Record<string, string>>;
type FormProps = { prefix: string; stored: Layer; inherited: Layer; onSaved: () => Promise<void> };

function Form({ prefix, stored, inherited, onSaved }: FormProps) {
  const fields = LIMIT_SCOPES.flatMap(({ scope }) => LIMIT_FIELDS.map((field) => ({ key: keyOf(scope, field), field })));
  const listChanges = (draft: Draft) =>
    fields
      .filter(({ key, field }) => draft[key] !== undefined && draft[key].trim() !== formatLimit(stored.get(key), field))
      .map(({ key, field }): [string, string] => [key, encodeLimit(draft[key]!.trim(), field)]);
  const [draft, setDraft] = useKeptDraft<Draft>(
    { page: "limits", title: "Limits", part: prefix },
    {},
    (draft) => listChanges(draft).length > 0,
  );
  const [savedAt, setSavedAt] = useState<number | null>(null);
  const operation = useOperation();
  const valueOf = (key: string, field: LimitField) => draft[key] ?? formatLimit(stored.get(key), field);
  const changes = listChanges(draft);
  const hasError = fields.some(({ key, field }) => limitError(valueOf(key, field), field) !== null);
  const save = async () => {
    const isSaved = await operation.run(async () => {
      await writeSettings(prefix, changes);
      await onSaved();
    });
    if (!isSaved) return;
    setDraft((current) => withoutSaved(current, draft));
    setSavedAt(Date.now());
  };
  const input = (scope: LimitScope, field: LimitField, label: string) => {
    const key = keyOf(scope, field);
    return (
      <TextInput
        key={key}
        label={label}
        inputMode="decimal"
        autocomplete="off"
        placeholder={formatLimit(inherited.get(key), field) || (scope === "run" && field.defaultLimit) || "no limit"}
        error={limitError(valueOf(key, field), field)}
        value={valueOf(key, field)}
        onValue={(value) => setDraft({ ...draft, [key]: value })}
      />
    );
  };
  return (
    <form
      class="settings-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (changes.length > 0 && !hasError) void save();
      }}
    >
      <Card
        title="Limits"
        text={`Leave blank for the default, or enter "${UNLIMITED}". At a limit, the agent pauses and asks you. A model without a known price, such as one on a server of your own, costs nothing here: limit its tokens, under Advanced.`}
      >
        {LIMIT_SCOPES.map(({ scope, anchor, title, text }) => (
          <Setting anchor={anchor} key={scope}>
            <fieldset class="limit">
              <legend>
                <strong>{title}</strong> <span class="soft">{text}</span>
              </legend>
              <div class="limit-main">
                {input(scope, COST, COST.title)}
                <LimitUse scope={scope} stored={stored} inherited={inherited} />
              </div>
              <details>
                <summary>Advanced: tokens, answers, tool calls, minutes</summary>
                <div class="field-grid limit-fields">{OTHERS.map((field) => input(scope, field, field.title))}</div>
              </details>
            </fieldset>
          </Setting>
        ))}
        <SaveBar
          operation={operation}
          hasChanges={changes.length > 0}
          hasError={hasError}
          savedAt={savedAt}
          onDiscard={() => setDraft({})}
        />
      </Card>
    </form>
  );
}

function keyOf(scope: LimitScope, { name }: LimitField): string {
  return `budget/${scope}/${name}`;
}
