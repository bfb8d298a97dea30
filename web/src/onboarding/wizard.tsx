// The set-up wizard: one step at a time, with the list of steps above and the guide beside it. Nothing is applied before the
// review.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Logo } from "../frame/logo.tsx";
import { Button } from "../ui/button.tsx";
import { AccountStep } from "./account-step.tsx";
import { AdminStep } from "./admin-step.tsx";
import { AiStep } from "./ai-step.tsx";
import { draft, isPasswordVisible } from "./draft.ts";
import { Guide } from "./guide.tsx";
import { MachineStep } from "./machine-step.tsx";
import { problemsOfStep, findProblems } from "./draft-problems.ts";
import { ReviewStep } from "./review-step.tsx";
import { goToStep, SHORT_TITLES, step, type Step, stepAfter, stepBefore, TITLES, laneSteps } from "./steps.ts";
import { TimeStep } from "./time-step.tsx";
import { WelcomeStep } from "./welcome-step.tsx";
import "./onboarding.css";

const STEPS = {
  welcome: WelcomeStep,
  account: AccountStep,
  admin: AdminStep,
  ai: AiStep,
  time: TimeStep,
  machine: MachineStep,
};

export function Wizard() {
  const current = step.value;
  /** Steps that the user tried to leave with errors: these show their errors. */
  const [submittedSteps, setSubmittedSteps] = useState<ReadonlySet<Step>>(new Set());
  const form = useRef<HTMLFormElement>(null);
  const isFirst = useRef(true);
  const title = TITLES[current];
  // In a layout effect: later, it could take the focus from a field in which the user types already.
  useLayoutEffect(() => {
    document.title = `${title} · GSV`;
    scrollTo(0, 0);
    // Focus the first field of a step, except on the first load, which must not move the focus.
    if (!isFirst.current) focusFirstControl(form.current);
    isFirst.current = false;
  }, [current]);

  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [submittedSteps]);

  const problems = findProblems(draft.value, isPasswordVisible.value);
  const stepProblems = problemsOfStep(current, problems);
  const isSubmitted = submittedSteps.has(current);
  const handleSubmit = (event: Event) => {
    event.preventDefault();
    if (stepProblems.length > 0) {
      // Always a new set, so that the effect above focuses the first error again.
      return setSubmittedSteps(new Set([...submittedSteps, current]));
    }
    goToStep(stepAfter(current));
  };
  const Body = current === "review" ? null : STEPS[current];
  const previous = stepBefore(current);
  return (
    <div class="setup">
      <main class="setup-main">
        <Logo />
        <StepList current={current} />
        <h1>{title}</h1>
        {Body === null ? (
          <ReviewStep problems={problems} onProblem={(where) => setSubmittedSteps(new Set([...submittedSteps, where]))} />
        ) : (
          <form class="setup-form" ref={form} noValidate onSubmit={handleSubmit}>
            <Body errorOf={(field) => (isSubmitted ? (problems.get(field) ?? null) : null)} />
            <div class="setup-foot">
              <Button type="submit" look="primary">
                Continue
              </Button>
              {previous !== null && (
                <Button look="quiet" icon="back" onClick={() => goToStep(previous)}>
                  Back
                </Button>
              )}
            </div>
          </form>
        )}
      </main>
      <Guide />
    </div>
  );
}

function StepList({ current }: { current: Step }) {
  const steps = laneSteps.value;
  const at = steps.indexOf(current);
  if (current === "welcome") return null;
  return (
    <nav aria-label="Steps" class="setup-way">
      <ol>
        {steps.slice(1).map((one, index) => (
          <li key={one} data-state={at === -1 || index + 1 < at ? "done" : one === current ? "now" : "coming"}>
            <button type="button" aria-current={one === current ? "step" : undefined} onClick={() => goToStep(one)}>
              {SHORT_TITLES[one]}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function focusFirstControl(form: HTMLFormElement | null): void {
  const first =
    form?.querySelector<HTMLElement>("input:checked, input:not([type=radio]), select") ??
    document.querySelector<HTMLElement>(".setup-main [data-first]");
  first?.focus();
}
