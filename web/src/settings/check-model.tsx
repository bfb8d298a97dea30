// Tries the model as it is written in the form, saved or not: a real, tiny question. What its provider has can then be chosen
// from.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, type Result } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";

export type Tried = { provider: string; model: string; apiKey: string; baseUrl: string };
type Check = Result<"ai.check">["check"];

/** A model on a small machine takes its time. */
const WAIT_MS = 120_000;

export function CheckModel({ tried, onModels }: { tried: Tried; onModels: (models: readonly string[]) => void }) {
  const [found, setFound] = useState<{ check: Check; of: string } | null>(null);
  const operation = useOperation();
  const of = JSON.stringify(tried);
  const look = () =>
    operation.run(async () => {
      setFound(null);
      // What is empty is as it is set already.
      const given = Object.fromEntries(Object.entries(tried).filter(([, value]) => value !== ""));
      const { check } = await call("ai.check", given, { timeoutMs: WAIT_MS });
      setFound({ check, of });
      onModels(check.models ?? []);
    });
  const check = found?.of === of ? found.check : null;
  return (
    <>
      <div class="row">
        <Button busy={operation.isBusy} onClick={() => void look()}>
          Check whether it answers
        </Button>
      </div>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      {check !== null && <Outcome check={check} />}
    </>
  );
}

function Outcome({ check: { ok, title, model, ms, said, problem } }: { check: Check }) {
  if (!ok) return <Banner tone="bad">{makeVisible(problem?.message ?? "No answer came.")}</Banner>;
  return (
    <Banner tone="good">
      {makeVisible(title)} answers with {makeVisible(model)}
      {ms !== null && `, within ${(ms / 1000).toFixed(1)} seconds`}: “{makeVisible(said)}”
    </Banner>
  );
}
