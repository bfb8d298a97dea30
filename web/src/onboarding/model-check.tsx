// The live check: the gateway tests the entered model, and the page shows the result. The models it found can be selected.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Elapsed } from "../chat/elapsed.tsx";
import { formatDuration } from "../ui/format-duration.ts";
import { describeError } from "../state/call.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import {
  changeDraft,
  modelCheck,
  modelCheckErrorOf,
  modelCheckSince,
  type ModelCheckResult,
  applyCheckedModel,
  draft,
  hasCheckFailed,
} from "./draft.ts";
import { GuidedField } from "./guided-field.tsx";
import { callSetup } from "./setup-calls.ts";
import type { StepProps } from "./step-props.ts";

export function ModelCheck({ errorOf, isReady }: StepProps & { isReady: boolean }) {
  const [failure, setFailure] = useState<string | null>(null);
  /** The list stays while another model of it is checked. */
  const [models, setModels] = useState<readonly string[]>(modelCheck.value?.models ?? []);
  const since = modelCheckSince.value;
  const list = useId();
  const result = useRef<HTMLDivElement>(null);
  const hasStarted = useRef(false);
  const { model } = draft.value;
  const runCheck = async () => {
    hasStarted.current = true;
    const startedAt = Date.now();
    modelCheckSince.value = startedAt;
    setFailure(null);
    hasCheckFailed.value = false;
    const checkedDraft = draft.peek();
    try {
      const result = await checkModel();
      setModels(result.models ?? []);
      // The user has changed the fields meanwhile, so the result does not apply.
      if (!isModelUnchanged(checkedDraft)) return;
      applyCheckedModel(result);
      if (result.problem !== null) setTimeout(focusInvalidField);
    } catch (error) {
      if (!isModelUnchanged(checkedDraft)) return;
      setFailure(describeError(error));
      hasCheckFailed.value = true;
    } finally {
      if (modelCheckSince.peek() === startedAt) modelCheckSince.value = null;
    }
  };
  // It is below the button, perhaps below the edge of the window. A check of the servers that were found is not followed.
  useLayoutEffect(() => {
    if (hasStarted.current) result.current?.scrollIntoView({ block: "nearest" });
  }, [since, failure, modelCheck.value]);
  return (
    <>
      <GuidedField field="model">
        <Field
          label="Model"
          hint={models.length > 0 ? `${models.length} available. Type to search.` : "Leave it blank and test: the server lists its models."}
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
              <Button busy={since !== null} disabled={!isReady} onClick={() => void runCheck()}>
                Test connection
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
      <div class="stack" role="status" ref={result}>
        {since !== null ? (
          <p class="soft">
            Waiting for {model === "" ? "the model" : makeVisible(model)}
            {/* The seconds are not announced. */}
            <span aria-hidden="true">
              <Elapsed since={since} before=", " />
            </span>
          </p>
        ) : failure !== null ? (
          <Banner tone="bad">{makeVisible(failure)}</Banner>
        ) : (
          modelCheck.value !== null && <CheckResult found={modelCheck.value} />
        )}
      </div>
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
  if (!ok) return <Banner tone="bad">{problem?.message ?? "No answer."}</Banner>;
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
