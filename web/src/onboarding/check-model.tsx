// The live check: asks the gateway to try what is filled in, and shows what came of it. The models that were found can be
// chosen from.

import { useId, useState } from "preact/hooks";
import { describeError } from "../state/call.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { change, check, checkError, type Check, chooseModel, draft } from "./draft.ts";
import { Filled } from "./filled.tsx";
import { ask } from "./gateway.ts";
import type { StepProps } from "./step-props.ts";

export function CheckModel({ errorOf, isReady }: StepProps & { isReady: boolean }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  /** What was found stays to be chosen from while another of them is tried. */
  const [models, setModels] = useState<readonly string[]>(check.value?.models ?? []);
  const list = useId();
  const { model } = draft.value;
  const run = async () => {
    setBusy(true);
    setFailed(null);
    const tried = draft.peek();
    try {
      const found = await tryIt();
      setModels(found.models ?? []);
      // What was typed in the meantime has not been tried.
      if (!isSame(tried)) return;
      chooseModel(found);
      if (found.problem !== null) setTimeout(focusOnProblem);
    } catch (error) {
      setFailed(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Filled field="model">
        <Field
          label="Model"
          hint={
            models.length > 0
              ? `${models.length} to choose from. Type to search.`
              : "Leave it empty and check: the list comes from the provider."
          }
          error={checkError("model") ?? errorOf("model")}
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
                onInput={(event) => change({ model: event.currentTarget.value.trim() })}
              />
              <Button busy={busy} disabled={!isReady} onClick={() => void run()}>
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
      </Filled>
      {failed !== null ? <Banner tone="bad">{failed}</Banner> : check.value !== null && <Outcome found={check.value} />}
    </>
  );
}

/** To what is to be mended, which says so. */
function focusOnProblem(): void {
  document.querySelector<HTMLElement>(".setup-main [aria-invalid=true]")?.focus();
}

/** What is wrong with a field is said there. */
function Outcome({ found: { ok, model, ms, said, problem } }: { found: Check }) {
  if (!ok && problem !== null && problem.field !== null) return null;
  if (!ok) return <Banner tone="bad">{problem?.message ?? "No answer came."}</Banner>;
  return (
    <Banner tone="good">
      {model} answered in {duration(ms ?? 0)}
      {said === "" ? "." : `: "${said.slice(0, 60)}"`}
    </Banner>
  );
}

export async function tryIt(
  place: Partial<Pick<ReturnType<typeof draft.peek>, "provider" | "model" | "baseUrl" | "apiKey">> = {},
): Promise<Check> {
  const { provider, model, apiKey, baseUrl } = { ...draft.peek(), ...place };
  const { ai } = await ask("sys.setup.check", {
    ai: { provider, ...(model === "" ? {} : { model }), ...(apiKey === "" ? {} : { apiKey }), ...(baseUrl === "" ? {} : { baseUrl }) },
  });
  return ai!;
}

function isSame(tried: ReturnType<typeof draft.peek>): boolean {
  const now = draft.peek();
  return (["aiKind", "provider", "model", "apiKey", "baseUrl"] as const).every((name) => now[name] === tried[name]);
}

export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
