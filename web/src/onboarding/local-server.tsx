// A model server of one's own: looked for where its software usually listens, or by its address.

import { useState } from "preact/hooks";
import { describeError } from "../state/call.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Radio } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { CheckModel, duration, tryIt } from "./check-model.tsx";
import { change, type Check, check, checkError, draft } from "./draft.ts";
import { Filled } from "./filled.tsx";
import { PasswordField } from "./password-field.tsx";
import { LOCAL } from "./providers.ts";
import type { StepProps } from "./step-props.ts";

const OTHER = "openai-compatible";

export function LocalServer({ errorOf }: StepProps) {
  const { provider, baseUrl, apiKey } = draft.value;
  const [busy, setBusy] = useState(false);
  const [found, setFound] = useState<readonly Check[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const look = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const tries = await Promise.all(LOCAL.map(({ id }) => tryIt({ provider: id, model: "", baseUrl: "", apiKey: "" })));
      const there = tries.filter(({ ok, models }) => ok || models !== null);
      setFound(there);
      const best = there.find(({ ok }) => ok) ?? there[0];
      if (best !== undefined) take(best);
    } catch (error) {
      setProblem(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div class="row">
        <Button icon="search" busy={busy} onClick={() => void look()}>
          Look for servers
        </Button>
        <span class="soft small">on the gateway's machine, at their usual ports</span>
      </div>
      {problem !== null && <Banner tone="bad">{problem}</Banner>}
      {found !== null && found.length === 0 && (
        <Banner>
          None answers at the usual ports ({LOCAL.map(({ title, port }) => `${title} ${port}`).join(", ")}). Start one and look again.
        </Banner>
      )}
      {found !== null && found.length > 0 && (
        <Radio
          legend="Found"
          value={provider}
          onValue={(id) => take(found.find((one) => one.provider === id)!)}
          options={found.map((one) => ({ value: one.provider, label: one.title, hint: hintOf(one) }))}
        />
      )}
      <Filled field="baseUrl">
        <TextInput
          label="Or its address"
          hint="Of any server that speaks like OpenAI's, as the gateway reaches it."
          error={checkError("baseUrl") ?? errorOf("baseUrl") ?? errorOf("provider")}
          name="baseUrl"
          placeholder="http://127.0.0.1:8080/v1"
          inputMode="url"
          autocapitalize="none"
          value={baseUrl}
          onValue={(typed) => change({ baseUrl: typed.trim(), provider: typed.trim() === "" ? "" : OTHER, model: "" })}
        />
      </Filled>
      {(provider === OTHER || apiKey !== "" || checkError("apiKey") !== null) && (
        <PasswordField
          label="Key"
          name="apiKey"
          hint="Only if it asks for one."
          error={checkError("apiKey") ?? errorOf("apiKey")}
          autocomplete="off"
          value={apiKey}
          onValue={(typed) => change({ apiKey: typed.trim() })}
        />
      )}
      {provider !== "" && <CheckModel key={provider} errorOf={errorOf} isReady={provider !== OTHER || baseUrl !== ""} />}
    </>
  );
}

function take(one: Check): void {
  change({ provider: one.provider, model: one.model, baseUrl: "", apiKey: "" });
  check.value = one;
}

function hintOf({ ok, models, model, ms, problem }: Check): string {
  if (!ok) return problem?.message ?? "It does not answer.";
  const count = models?.length ?? 0;
  return `${count === 1 ? "One model" : `${count} models`}; ${model} answered in ${duration(ms ?? 0)}.`;
}
