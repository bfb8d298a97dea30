// The form for "Always allow…": what is allowed without asking, and until when.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PendingQuestion } from "../state/approvals.ts";
import { Button } from "../ui/button.tsx";
import { Radio, Select } from "../ui/choice.tsx";
import { formatUntil } from "../ui/format-time.ts";
import type { FreshPress } from "./fresh-press.ts";
import { type Scope, scopesOf } from "./grant-scopes.ts";
import { leaveOnEscape } from "./leave-on-escape.ts";
import { isGrave } from "./grave.ts";
import type { QuestionAnswer } from "./question.tsx";

const HOUR_MS = 3_600_000;
/** The gateway's limits: a wider scope has a shorter maximum. */
const HOURS_MAX: Record<Scope, number> = { exact: 30 * 24, folder: 7 * 24, tool: 24 };
const DURATIONS = [
  { hours: 1, label: "1 hour" },
  { hours: 8, label: "8 hours" },
  { hours: 24, label: "1 day" },
  { hours: 7 * 24, label: "1 week" },
  { hours: 30 * 24, label: "30 days" },
];

type GrantFormProps = {
  question: PendingQuestion;
  freshPress: FreshPress;
  isBusy: boolean;
  onCancel: () => void;
  onAllow: (answer: QuestionAnswer) => void;
};

export function GrantForm({ question, freshPress, isBusy, onCancel, onAllow }: GrantFormProps) {
  const [scope, setScope] = useState<Scope>("exact");
  const [hours, setHours] = useState("24");
  const options = scopesOf(question);
  const isDangerous = isGrave(question) || options.find(({ value }) => value === scope)?.isDangerous === true;
  const durations = DURATIONS.filter((time) => time.hours <= HOURS_MAX[scope]);
  const selectedHours = durations.some((time) => String(time.hours) === hours) ? hours : "24";
  const ttlMs = Number(selectedHours) * HOUR_MS;
  const form = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);
  return (
    <div class="question-form" ref={form} onKeyDown={(event) => leaveOnEscape(event, onCancel)}>
      <Radio legend="Always allow" value={scope} options={options} onValue={setScope} />
      {options.length === 1 && <p class="soft small">Only exactly this can be allowed beforehand: it is too powerful for more.</p>}
      <Select
        label="For how long"
        value={selectedHours}
        options={durations.map((time) => ({ value: String(time.hours), label: time.label }))}
        onValue={setHours}
      />
      <div class="question-answers">
        <Button
          look={isDangerous ? "danger" : "primary"}
          busy={isBusy}
          onClick={freshPress.guard(() => onAllow({ decision: "approve", remember: true, scope, ttlMs }))}
        >
          Allow until {formatUntil(Date.now() + ttlMs)}
        </Button>
        <Button look="quiet" disabled={isBusy} onClick={onCancel}>
          Back
        </Button>
      </div>
    </div>
  );
}
