// Tests the model of the form, saved or not, with a short request, and shows the result beside the button. The models that the server
// lists can be selected afterwards. The form keeps the result.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { Elapsed } from "../chat/elapsed.tsx";
import { call, describeError, type Result } from "../state/call.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";

export type ModelSettings = { provider: string; model: string; apiKey: string; baseUrl: string };
type Check = Result<"ai.check">["check"];
/** `key`: which settings were tested. */
export type CheckOutcome = { key: string; isGood: boolean; text: string };
type ModelCheckProps = {
  settings: ModelSettings;
  isReady: boolean;
  outcome: CheckOutcome | null;
  onOutcome: (outcome: CheckOutcome | null) => void;
  onModels: (models: readonly string[]) => void;
};

/** A model on a small machine is slow. */
const CHECK_TIMEOUT_MS = 120_000;

export function ModelCheck({ settings, isReady, outcome, onOutcome, onModels }: ModelCheckProps) {
  const [since, setSince] = useState<number | null>(null);
  const key = keyOfSettings(settings);
  const runCheck = async () => {
    setSince(Date.now());
    onOutcome(null);
    try {
      // The gateway uses its stored value for a setting that is left out.
      const args = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ""));
      const { check } = await call("ai.check", args, { timeoutMs: CHECK_TIMEOUT_MS });
      onOutcome({ key, isGood: check.ok, text: describeCheck(check) });
      onModels(check.models ?? []);
    } catch (error) {
      onOutcome({ key, isGood: false, text: makeVisible(describeError(error)) });
    } finally {
      setSince(null);
    }
  };
  return (
    <div class="model-check">
      <Button busy={since !== null} disabled={!isReady} onClick={() => void runCheck()}>
        Test connection
      </Button>
      <p class="model-check-result" role="status">
        {since !== null ? (
          <span class="soft">
            Waiting for {settings.model === "" ? "an answer" : makeVisible(settings.model)}
            {/* The seconds are not announced. */}
            <span aria-hidden="true">
              <Elapsed since={since} before=", " />
            </span>
          </span>
        ) : (
          outcome?.key === key && <Outcome {...outcome} />
        )}
      </p>
    </div>
  );
}

export function keyOfSettings(settings: ModelSettings): string {
  return JSON.stringify(settings);
}

function Outcome({ isGood, text }: CheckOutcome) {
  return (
    <span class={isGood ? "outcome-good" : "outcome-bad"}>
      <Icon name={isGood ? "check" : "warning"} />
      <span>{text}</span>
    </span>
  );
}

function describeCheck({ ok, model, ms, problem }: Check): string {
  if (!ok) return makeVisible(problem?.message ?? "No answer came.");
  return `${makeVisible(model)} answered${ms === null ? "" : ` in ${formatDuration(ms)}`}`;
}
