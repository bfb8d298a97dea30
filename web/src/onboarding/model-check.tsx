// The live check: the gateway tests the entered model, and the page shows the result. The models it found can be selected.

import { useId, useState } from "preact/hooks";
import { describeError } from "../state/call.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { changeDraft, modelCheck, modelCheckErrorOf, type ModelCheckResult, applyCheckedModel, draft } from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { callSetup } from "./setup-calls.ts";
import type { StepProps } from "./step-props.ts";

export function ModelCheck({ errorOf, isReady }: StepProps & { isReady: boolean }) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  /** The list stays while another model of it is checked. */
  const [models, setModels] = useState<readonly string[]>(modelCheck.value?.models ?? []);
  const list = useId();
  const { model } = draft.value;
  const runCheck = async () => {
    setBusy(true);
    setFailure(null);
    const checkedDraft = draft.peek();
    try {
      const result = await checkModel();
      setModels(result.models ?? []);
      // The user has changed the fields meanwhile, so the result does not apply.
      if (!isModelUnchanged(checkedDraft)) return;
      applyCheckedModel(result);
      if (result.problem !== null) setTimeout(focusInvalidField);
    } catch (error) {
      setFailure(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <GuidedField field="model">
        <Field
          label="Model"
          hint={
            models.length > 0
              ? `${models.length} to choose from. Type to search.`
              : "Leave it empty and check: the list comes from the provider."
          }
          error={modelCheckErrorOf("model") ?? errorOf("model")}
        >
          {(controlProps) => (
            <div class="secret">
              <input
                {...controlProps}
                class="control"
                name="model"
                list={list}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                value={model}
                onInput={(event) => changeDraft({ model: event.currentTarget.value.trim() })}
              />
              <Button busy={isBusy} disabled={!isReady} onClick={() => void runCheck()}>
                Check
              </Button>
              <datalist id={list}>
                {models.map((one) => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            </div>
          )}
        </Field>
      </GuidedField>
      {failure !== null ? <Banner tone="bad">{failure}</Banner> : modelCheck.value !== null && <CheckResult found={modelCheck.value} />}
    </>
  );
}

/** Focuses the first field with an error. */
function focusInvalidField(): void {
  document.querySelector<HTMLElement>(".setup-main [aria-invalid=true]")?.focus();
}

/** A problem of a field is shown at that field instead. */
function CheckResult({ found: { ok, model, ms, said, problem } }: { found: ModelCheckResult }) {
  if (!ok && problem !== null && problem.field !== null) return null;
  if (!ok) return <Banner tone="bad">{problem?.message ?? "No answer came."}</Banner>;
  return (
    <Banner tone="good">
      {model} answered in {formatDuration(ms ?? 0)}
      {said === "" ? "." : `: "${said.slice(0, 60)}"`}
    </Banner>
  );
}

export async function checkModel(
  overrides: Partial<Pick<ReturnType<typeof draft.peek>, "provider" | "model" | "baseUrl" | "apiKey">> = {},
): Promise<ModelCheckResult> {
  const { provider, model, apiKey, baseUrl } = { ...draft.peek(), ...overrides };
  const { ai } = await callSetup("sys.setup.check", {
    ai: { provider, ...(model === "" ? {} : { model }), ...(apiKey === "" ? {} : { apiKey }), ...(baseUrl === "" ? {} : { baseUrl }) },
  });
  return ai!;
}

function isModelUnchanged(checkedDraft: ReturnType<typeof draft.peek>): boolean {
  const current = draft.peek();
  return (["aiKind", "provider", "model", "apiKey", "baseUrl"] as const).every((name) => current[name] === checkedDraft[name]);
}

export function formatDuration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
