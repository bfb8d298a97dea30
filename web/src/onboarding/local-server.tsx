// The user's own model server: found at the default ports of known servers, or entered by address.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Elapsed } from "../chat/elapsed.tsx";
import { formatDuration } from "../ui/format-duration.ts";
import { describeError } from "../state/call.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Radio } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { ModelCheck, checkModel } from "./model-check.tsx";
import { changeDraft, type ModelCheckResult, modelCheck, modelCheckErrorOf, draft, foundServers } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { PasswordField } from "./password-field.tsx";
import { LOCAL_SERVERS } from "../models/providers.ts";
import type { StepProps } from "./step-props.ts";

const MODELS_SHOWN = 4;
const OPENAI_COMPATIBLE = "openai-compatible";

export function LocalServer({ errorOf }: StepProps) {
  const { provider, baseUrl, apiKey } = draft.value;
  const [since, setSince] = useState<number | null>(null);
  const found = foundServers.value;
  const usual = LOCAL_SERVERS.find(({ id }) => id === provider);
  const [problem, setProblem] = useState<string | null>(null);
  const findServers = async () => {
    setSince(Date.now());
    setProblem(null);
    try {
      const checks = await Promise.all(LOCAL_SERVERS.map(({ id }) => checkModel({ provider: id, model: "", baseUrl: "", apiKey: "" })));
      const running = checks.filter(({ ok, models }) => ok || models !== null);
      foundServers.value = running;
      const best = running.find(({ ok }) => ok) ?? running[0];
      if (best !== undefined) selectServer(best);
    } catch (error) {
      setProblem(describeError(error));
    } finally {
      setSince(null);
    }
  };
  return (
    <>
      <div class="row">
        <Button icon="search" busy={since !== null} onClick={() => void findServers()}>
          Find servers
        </Button>
        <span class="soft small">
          {since === null ? (
            "on the gateway's machine, at the usual ports"
          ) : (
            <>
              Looking at the usual ports, and testing each model that answers
              <Elapsed since={since} before=", " />
            </>
          )}
        </span>
      </div>
      {found === null && usual !== undefined && (
        <p class="soft">
          {usual.title} is chosen, at its usual port {usual.port} on the gateway's machine.
        </p>
      )}
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
          options={found.map((one) => ({ value: one.provider, label: nameServer(one), hint: formatServerHint(one) }))}
        />
      )}
      <GuidedField field="baseUrl">
        <TextInput
          label="Server address"
          hint="For any other OpenAI-compatible server: its URL, as seen from the gateway."
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

function nameServer({ provider, title }: ModelCheckResult): string {
  const port = LOCAL_SERVERS.find(({ id }) => id === provider)?.port;
  return port === undefined ? title : `${title}, port ${port}`;
}

function formatServerHint({ ok, models, model, ms, problem }: ModelCheckResult): string {
  if (!ok) return problem?.message ?? "No answer.";
  const others = (models ?? []).filter((one) => one !== model);
  const also =
    others.length === 0
      ? ""
      : ` It also has ${others.slice(0, MODELS_SHOWN).join(", ")}${others.length > MODELS_SHOWN ? " and more" : ""}.`;
  return makeVisible(`${model} answered in ${formatDuration(ms ?? 0)}.${also}`);
}
