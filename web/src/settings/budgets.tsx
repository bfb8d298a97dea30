// How much agents may use: one run, one process, and all of a user's processes together in a day. What is used up waits for a
// person. Where both root and a user set a limit, the stricter counts.

import { useState } from "preact/hooks";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { type Layer, SYSTEM, useLayer, write } from "./layer.ts";
import { Spending } from "./spending.tsx";
import { useWhose, WhoseChoice } from "./scope-switch.tsx";

const UNLIMITED = "unlimited";
const MINUTE_MS = 60_000;

const SCOPES = [
  { scope: "run", title: "One run", text: "From a message of yours to the end of the answer." },
  { scope: "process", title: "One process", text: "All its runs together." },
  { scope: "user", title: "One day", text: "All processes of a user, by day in UTC." },
] as const;

/** `usual` is what holds for a run where nobody set anything. */
const LIMITS = [
  { name: "model_calls", title: "Answers", fits: /^\d{1,9}$/, means: "A whole number.", usual: "200" },
  { name: "tool_calls", title: "Tool calls", fits: /^\d{1,9}$/, means: "A whole number.", usual: "500" },
  { name: "tokens", title: "Tokens", fits: /^\d{1,15}$/, means: "A whole number.", usual: null },
  { name: "cost", title: "Cost, in dollars", fits: /^\d{1,9}(\.\d{1,6})?$/, means: "An amount like 2.50.", usual: null },
  { name: "wall_ms", title: "Minutes", fits: /^\d{1,7}$/, means: "Whole minutes.", usual: "240" },
] as const;

type Limit = (typeof LIMITS)[number];

const NO_LAYER: Layer = new Map();

export function Budgets() {
  const [whose, setSystem] = useWhose();
  const layer = useLayer(whose.prefix);
  const system = useLayer(SYSTEM);
  return (
    <>
      <Spending />
      <Card title="Budgets" text={`Nothing means as usual; "${UNLIMITED}" takes a limit away. What is used up waits for your yes.`}>
        <WhoseChoice isSystem={whose.isSystem} onSystem={setSystem} />
        <Loaded latest={layer} label="Loading budgets">
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
    </>
  );
}

function Form({ prefix, stored, under }: { prefix: string; stored: Layer; under: Layer }) {
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>({});
  const operation = useOperation();
  const valueOf = (key: string, limit: Limit) => draft[key] ?? shown(stored.get(key), limit);
  const fields = SCOPES.flatMap(({ scope }) => LIMITS.map((limit) => ({ key: `budget/${scope}/${limit.name}`, limit })));
  const changes = fields
    .filter(({ key, limit }) => draft[key] !== undefined && draft[key].trim() !== shown(stored.get(key), limit))
    .map(({ key, limit }): [string, string] => [key, kept(draft[key]!.trim(), limit)]);
  const isWrong = fields.some(({ key, limit }) => mistake(valueOf(key, limit), limit) !== null);
  const save = async () => {
    const isDone = await operation.run(() => write(prefix, changes));
    if (!isDone) return;
    setDraft({});
    showNotice("Saved. New runs keep to it", "good");
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) void save();
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
                  placeholder={shown(under.get(key), limit) || (scope === "run" && limit.usual) || "no limit"}
                  error={mistake(valueOf(key, limit), limit)}
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
        <Button type="submit" look="primary" busy={operation.isBusy} disabled={changes.length === 0 || isWrong}>
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

/** Milliseconds are shown as minutes, as long as they are whole ones. */
function shown(text: string | undefined, { name }: Limit): string {
  if (text === undefined || name !== "wall_ms" || !/^\d+$/.test(text)) return text ?? "";
  return String(Math.ceil(Number(text) / MINUTE_MS));
}

function kept(text: string, { name }: Limit): string {
  return name === "wall_ms" && /^\d+$/.test(text) ? String(Number(text) * MINUTE_MS) : text;
}

function mistake(text: string, { fits, means }: Limit): string | null {
  const bare = text.trim();
  return bare === "" || bare === UNLIMITED || fits.test(bare) ? null : `${means} Or nothing, or ${UNLIMITED}.`;
}
