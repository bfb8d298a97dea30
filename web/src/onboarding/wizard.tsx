// The steps of set-up, one at a time, with the way through them above and the guide beside. Nothing is done before the review
// says so.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Logo } from "../frame/logo.tsx";
import { Button } from "../ui/button.tsx";
import { AccountStep } from "./account-step.tsx";
import { AdminStep } from "./admin-step.tsx";
import { AiStep } from "./ai-step.tsx";
import { draft, shown } from "./draft.ts";
import { Guide } from "./guide.tsx";
import { MachineStep } from "./machine-step.tsx";
import { problemsIn, problemsOf } from "./problems.ts";
import { ReviewStep } from "./review-step.tsx";
import { goTo, SHORT_TITLES, step, type Step, stepAfter, stepBefore, TITLES, way } from "./steps.ts";
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
  const now = step.value;
  /** Steps that somebody wanted to leave: from then on they say what is missing. */
  const [tried, setTried] = useState<ReadonlySet<Step>>(new Set());
  const form = useRef<HTMLFormElement>(null);
  const isFirst = useRef(true);
  const title = TITLES[now];
  useEffect(() => {
    document.title = `${title} · GSV`;
    scrollTo(0, 0);
    // Where one went, one begins to type; a page that has just come takes no focus away.
    if (!isFirst.current) focusIn(form.current);
    isFirst.current = false;
  }, [now]);

  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [tried]);

  const problems = problemsOf(draft.value, shown.value);
  const own = problemsIn(now, problems);
  const isTried = tried.has(now);
  const go = (event: Event) => {
    event.preventDefault();
    if (own.length > 0) {
      // A new set each time, so that the focus goes to what is wrong each time.
      return setTried(new Set([...tried, now]));
    }
    goTo(stepAfter(now));
  };
  const Body = now === "review" ? null : STEPS[now];
  const before = stepBefore(now);
  return (
    <div class="setup">
      <main class="setup-main">
        <Logo />
        <Way now={now} />
        <h1>{title}</h1>
        {Body === null ? (
          <ReviewStep problems={problems} onProblem={(where) => setTried(new Set([...tried, where]))} />
        ) : (
          <form class="setup-form" ref={form} noValidate onSubmit={go}>
            <Body errorOf={(field) => (isTried ? (problems.get(field) ?? null) : null)} />
            <div class="setup-foot">
              <Button type="submit" look="primary">
                Continue
              </Button>
              {before !== null && (
                <Button look="quiet" icon="back" onClick={() => goTo(before)}>
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

function Way({ now }: { now: Step }) {
  const steps = way.value;
  const at = steps.indexOf(now);
  if (now === "welcome") return null;
  return (
    <nav aria-label="Steps" class="setup-way">
      <ol>
        {steps.slice(1).map((one, index) => (
          <li key={one} data-state={at === -1 || index + 1 < at ? "done" : one === now ? "now" : "coming"}>
            <button type="button" aria-current={one === now ? "step" : undefined} onClick={() => goTo(one)}>
              {SHORT_TITLES[one]}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function focusIn(form: HTMLFormElement | null): void {
  const first =
    form?.querySelector<HTMLElement>("input:checked, input:not([type=radio]), select") ??
    document.querySelector<HTMLElement>(".setup-main [data-first]");
  first?.focus();
}
