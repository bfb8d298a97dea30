// The last step: everything that will be set, and the button that applies it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { draft, hasCheckFailed, modelCheck, modelCheckSince } from "./draft.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { gatewayModel } from "./setup-calls.ts";
import type { Problems } from "./draft-problems.ts";
import { providerTitleOf } from "../models/providers.ts";
import { goToStep, type Step, STEP_OF, stepBefore, TITLES } from "./steps.ts";
import { submitSetup } from "./submit.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { formatTimeIn } from "../../../src/lib/time-zones.ts";

type ReviewRow = { step: Step; title: string; value: string; remark?: { words: string; isGood: boolean } };

/** `onProblem` makes a step show its errors. */
export function ReviewStep({ problems, onProblem }: { problems: Problems; onProblem: (step: Step) => void }) {
  const operation = useOperation();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => button.current?.focus(), []);
  const incompleteSteps = [...new Set([...problems.keys()].map((field) => STEP_OF[field]))];
  const fixStep = (step: Step) => {
    onProblem(step);
    goToStep(step);
  };
  const previous = stepBefore("review") ?? "account";
  const { username, adminMode } = draft.value;
  return (
    <div class="setup-form">
      <dl class="review">
        {makeReviewRows().map(({ step, title, value, remark }) => (
          <div class="review-row" key={title} data-missing={incompleteSteps.includes(step) ? "yes" : undefined}>
            <dt>{title}</dt>
            <dd>
              <span class="review-value">{value}</span>
              {remark !== undefined && <Badge tone={remark.isGood ? "good" : "warn"}>{remark.words}</Badge>}
            </dd>
            <dd class="review-change">
              <Button look="quiet" aria-label={`Change: ${title}`} onClick={() => goToStep(step)}>
                Change
              </Button>
            </dd>
          </div>
        ))}
      </dl>
      {username !== "" && (
        <p>
          You are <strong>{makeVisible(username)}</strong>. The administrator is <strong>root</strong>,{" "}
          {adminMode === "same" ? "with the same password" : "with a separate password"}. Sign in as root to add people or open the network.
        </p>
      )}
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      {incompleteSteps.length > 0 && (
        <Banner
          tone="warn"
          actions={incompleteSteps.map((step) => (
            <Button key={step} onClick={() => fixStep(step)}>
              {TITLES[step]}
            </Button>
          ))}
        >
          Some fields are still empty. A reload clears passwords and keys.
        </Banner>
      )}
      <div class="setup-foot">
        <Button
          look="primary"
          busy={operation.isBusy}
          buttonRef={button}
          disabled={incompleteSteps.length > 0}
          onClick={() => void operation.run(submitSetup)}
        >
          Set up this gateway
        </Button>
        <Button look="quiet" icon="back" disabled={operation.isBusy} onClick={() => goToStep(previous)}>
          Back
        </Button>
      </div>
    </div>
  );
}

function makeReviewRows(): ReviewRow[] {
  const { username, password, adminMode, adminPassword, timezone, hasDevice, deviceId, expiryDays } = draft.value;
  return [
    { step: "account", title: "Name", value: username || "Not entered yet" },
    {
      step: "account",
      title: "Password",
      value: password === "" ? "Not entered yet" : `Entered, ${Array.from(password).length} characters`,
    },
    {
      step: "admin",
      title: "Administrator",
      value:
        adminMode === "same"
          ? "root, with the same password as you"
          : adminPassword === ""
            ? "root, password not entered yet"
            : "root, with a separate password",
    },
    makeAiRow(),
    { step: "time", title: "Time zone", value: `${timezone} · now ${formatTimeIn(timezone, Date.now())}` },
    {
      step: "machine",
      title: "First machine",
      value: hasDevice ? `${deviceId}${expiryDays === "" ? "" : `, reconnect after ${expiryDays} days`}` : "None",
    },
  ];
}

function makeAiRow(): ReviewRow {
  const { aiKind, provider, model, baseUrl } = draft.value;
  const row = { step: "ai" as const, title: "Model" };
  if (aiKind === "own") {
    const { provider: id, title, model: ownModel } = gatewayModel.value!;
    return id === "demo" ? { ...row, value: "Demo, not an AI" } : { ...row, value: `${title}, ${ownModel}` };
  }
  const result = modelCheck.value;
  const remark =
    result?.ok === true
      ? { words: `answered in ${formatDuration(result.ms ?? 0)}`, isGood: true }
      : { words: describeMissingResult(), isGood: false };
  const where = baseUrl === "" ? "" : ` at ${baseUrl}`;
  return {
    ...row,
    value: provider === "" ? "Not chosen yet" : `${providerTitleOf(provider)}${where}, ${model || "no model chosen"}`,
    remark,
  };
}

function describeMissingResult(): string {
  if (modelCheckSince.value !== null) return "being tested…";
  return modelCheck.value !== null || hasCheckFailed.value ? "test failed" : "not tested";
}
