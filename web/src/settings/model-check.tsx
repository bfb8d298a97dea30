// Tests the model of the form, saved or not, with a short request. The provider's models can be selected afterwards.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, type Result } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";

export type ModelSettings = { provider: string; model: string; apiKey: string; baseUrl: string };
type Check = Result<"ai.check">["check"];

/** A model on a small machine is slow. */
const CHECK_TIMEOUT_MS = 120_000;

export function ModelCheck({ settings, onModels }: { settings: ModelSettings; onModels: (models: readonly string[]) => void }) {
  const [outcome, setOutcome] = useState<{ check: Check; key: string } | null>(null);
  const operation = useOperation();
  const key = JSON.stringify(settings);
  const runCheck = () =>
    operation.run(async () => {
      setOutcome(null);
      // The gateway uses its stored value for a setting that is left out.
      const args = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ""));
      const { check } = await call("ai.check", args, { timeoutMs: CHECK_TIMEOUT_MS });
      setOutcome({ check, key });
      onModels(check.models ?? []);
    });
  const check = outcome?.key === key ? outcome.check : null;
  return (
    <>
      <div class="row">
        <Button busy={operation.isBusy} onClick={() => void runCheck()}>
          Check whether it answers
        </Button>
      </div>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      {check !== null && <CheckResult check={check} />}
    </>
  );
}

function CheckResult({ check: { ok, title, model, ms, said, problem } }: { check: Check }) {
  if (!ok) return <Banner tone="bad">{makeVisible(problem?.message ?? "No answer came.")}</Banner>;
  return (
    <Banner tone="good">
      {makeVisible(title)} answers with {makeVisible(model)}
      {ms !== null && `, within ${(ms / 1000).toFixed(1)} seconds`}: “{makeVisible(said)}”
    </Banner>
  );
}
