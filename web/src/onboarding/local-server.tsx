// The user's own model server: found at the default ports of known servers, or entered by address.

import { useState } from "preact/hooks";
import { formatDuration } from "../ui/format-duration.ts";
import { describeError } from "../state/call.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Radio } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { ModelCheck, checkModel } from "./model-check.tsx";
import { changeDraft, type ModelCheckResult, modelCheck, modelCheckErrorOf, draft } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { PasswordField } from "./password-field.tsx";
import { LOCAL_SERVERS } from "../models/providers.ts";
import type { StepProps } from "./step-props.ts";

const OPENAI_COMPATIBLE = "openai-compatible";

export function LocalServer({ errorOf }: StepProps) {
  const { provider, baseUrl, apiKey } = draft.value;
  const [isBusy, setBusy] = useState(false);
  const [found, setFound] = useState<readonly ModelCheckResult[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const findServers = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const checks = await Promise.all(LOCAL_SERVERS.map(({ id }) => checkModel({ provider: id, model: "", baseUrl: "", apiKey: "" })));
      const running = checks.filter(({ ok, models }) => ok || models !== null);
      setFound(running);
      const best = running.find(({ ok }) => ok) ?? running[0];
      if (best !== undefined) selectServer(best);
    } catch (error) {
      setProblem(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div class="row">
        <Button icon="search" busy={isBusy} onClick={() => void findServers()}>
          Find servers
        </Button>
        <span class="soft small">on the gateway's machine, at the usual ports</span>
      </div>
      {problem !== null && <Banner tone="bad">{problem}</Banner>}
      {found !== null && found.length === 0 && (
        <Banner>
          No server found at the usual ports ({LOCAL_SERVERS.map(({ title, port }) => `${title} ${port}`).join(", ")}). Start one and try
          again, or enter its address.
        </Banner>
      )}
      {found !== null && found.length > 0 && (
        <Radio
          legend="Servers found"
          value={provider}
          onValue={(id) => selectServer(found.find((one) => one.provider === id)!)}
          options={found.map((one) => ({ value: one.provider, label: one.title, hint: formatServerHint(one) }))}
        />
      )}
      <GuidedField field="baseUrl">
        <TextInput
          label="OpenAI-compatible server"
          hint="Its URL, as seen from the gateway."
          error={modelCheckErrorOf("baseUrl") ?? errorOf("baseUrl") ?? errorOf("provider")}
          name="baseUrl"
          placeholder="http://127.0.0.1:8080/v1"
          inputMode="url"
          autocapitalize="none"
          value={baseUrl}
          onValue={(typed) => changeDraft({ baseUrl: typed.trim(), provider: typed.trim() === "" ? "" : OPENAI_COMPATIBLE, model: "" })}
        />
      </GuidedField>
      {(provider === OPENAI_COMPATIBLE || apiKey !== "" || modelCheckErrorOf("apiKey") !== null) && (
        <PasswordField
          label="API key"
          name="apiKey"
          hint="Only if the server requires one."
          error={modelCheckErrorOf("apiKey") ?? errorOf("apiKey")}
          autocomplete="off"
          value={apiKey}
          onValue={(typed) => changeDraft({ apiKey: typed.trim() })}
        />
      )}
      {provider !== "" && <ModelCheck key={provider} errorOf={errorOf} isReady={provider !== OPENAI_COMPATIBLE || baseUrl !== ""} />}
    </>
  );
}

function selectServer(one: ModelCheckResult): void {
  changeDraft({ provider: one.provider, model: one.model, baseUrl: "", apiKey: "" });
  modelCheck.value = one;
}

function formatServerHint({ ok, models, model, ms, problem }: ModelCheckResult): string {
  if (!ok) return problem?.message ?? "No answer.";
  const count = models?.length ?? 0;
  return `${count === 1 ? "1 model" : `${count} models`}, ${model} answered in ${formatDuration(ms ?? 0)}.`;
}
