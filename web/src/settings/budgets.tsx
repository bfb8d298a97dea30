// The budgets of agents: for one run, one process, and all processes of a user per day. Work that exceeds a budget waits for
// approval. If both root and a user set a limit, the stricter one applies.

import { useState } from "preact/hooks";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { type Layer, SYSTEM_PREFIX, useLayer, writeSettings } from "./settings-layer.ts";
import { Spending } from "./spending.tsx";
import { useSettingsScope, ScopeSwitch } from "./scope-switch.tsx";

const UNLIMITED = "unlimited";
const MINUTE_MS = 60_000;

const SCOPES = [
  { scope: "run", title: "One run", text: "From a message of yours to the end of the answer." },
  { scope: "process", title: "One process", text: "All its runs together." },
  { scope: "user", title: "One day", text: "All processes of a user, by day in UTC." },
] as const;

/** `defaultLimit`: the limit of a run if nobody set one. */
const LIMITS = [
  { name: "model_calls", title: "Answers", pattern: /^\d{1,9}$/, hint: "A whole number.", defaultLimit: "200" },
  { name: "tool_calls", title: "Tool calls", pattern: /^\d{1,9}$/, hint: "A whole number.", defaultLimit: "2000" },
  { name: "tokens", title: "Tokens", pattern: /^\d{1,15}$/, hint: "A whole number.", defaultLimit: null },
  { name: "cost", title: "Cost, in dollars", pattern: /^\d{1,9}(\.\d{1,6})?$/, hint: "An amount like 2.50.", defaultLimit: null },
  { name: "wall_ms", title: "Minutes", pattern: /^\d{1,7}$/, hint: "Whole minutes.", defaultLimit: "240" },
] as const;

type Limit = (typeof LIMITS)[number];

const EMPTY_LAYER: Layer = new Map();

export function Budgets() {
  const [scope, setSystem] = useSettingsScope();
  const layer = useLayer(scope.prefix);
  const system = useLayer(SYSTEM_PREFIX);
  return (
    <>
      <Spending />
      <Card title="Budgets" text={`Nothing means as usual; "${UNLIMITED}" takes a limit away. What is used up waits for your yes.`}>
        <ScopeSwitch isSystem={scope.isSystem} onSystem={setSystem} />
        <Loaded latest={layer} label="Loading budgets">
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
    </>
  );
}

function Form({ prefix, stored, inherited }: { prefix: string; stored: Layer; inherited: Layer }) {
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>({});
  const operation = useOperation();
  const valueOf = (key: string, limit: Limit) => draft[key] ?? formatLimit(stored.get(key), limit);
  const fields = SCOPES.flatMap(({ scope }) => LIMITS.map((limit) => ({ key: `budget/${scope}/${limit.name}`, limit })));
  const changes = fields
    .filter(({ key, limit }) => draft[key] !== undefined && draft[key].trim() !== formatLimit(stored.get(key), limit))
    .map(({ key, limit }): [string, string] => [key, encodeLimit(draft[key]!.trim(), limit)]);
  const hasError = fields.some(({ key, limit }) => limitError(valueOf(key, limit), limit) !== null);
  const save = async () => {
    const isSaved = await operation.run(() => writeSettings(prefix, changes));
    if (!isSaved) return;
    setDraft({});
    showNotice("Saved. New runs keep to it", "good");
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!hasError) void save();
      }}
    >
      {SCOPES.map(({ scope, title, text }) => (
        <fieldset class="budget" key={scope}>
          <legend>
            <strong>{title}</strong> <span class="soft">{text}</span>
          </legend>
          <div class="field-grid budget-fields">
            {LIMITS.map((limit) => {
              const key = `budget/${scope}/${limit.name}`;
              return (
                <TextInput
                  key={key}
                  label={limit.title}
                  inputMode="decimal"
                  autocomplete="off"
                  placeholder={formatLimit(inherited.get(key), limit) || (scope === "run" && limit.defaultLimit) || "no limit"}
                  error={limitError(valueOf(key, limit), limit)}
                  value={valueOf(key, limit)}
                  onValue={(value) => setDraft({ ...draft, [key]: value })}
                />
              );
            })}
          </div>
        </fieldset>
      ))}
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      <div class="row">
        <Button type="submit" look="primary" busy={operation.isBusy} disabled={changes.length === 0 || hasError}>
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

/** Shows milliseconds as minutes, rounded up. */
function formatLimit(text: string | undefined, { name }: Limit): string {
  if (text === undefined || name !== "wall_ms" || !/^\d+$/.test(text)) return text ?? "";
  return String(Math.ceil(Number(text) / MINUTE_MS));
}

function encodeLimit(text: string, { name }: Limit): string {
  return name === "wall_ms" && /^\d+$/.test(text) ? String(Number(text) * MINUTE_MS) : text;
}

function limitError(text: string, { pattern, hint }: Limit): string | null {
  const bare = text.trim();
  return bare === "" || bare === UNLIMITED || pattern.test(bare) ? null : `${hint} Or nothing, or ${UNLIMITED}.`;
}
