// A yes that holds for more than once: how much of it, and for how long.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { Radio, Select } from "../ui/choice.tsx";
import type { FreshPress } from "./fresh-press.ts";
import type { QuestionAnswer } from "./question.tsx";

type Scope = "exact" | "folder" | "tool";
const HOUR_MS = 3_600_000;
/** Wider ones end sooner: the gateway takes no longer than this. */
const LONGEST_HOURS: Record<Scope, number> = { exact: 30 * 24, folder: 7 * 24, tool: 24 };
const TIMES = [
  { hours: 1, label: "An hour" },
  { hours: 8, label: "8 hours" },
  { hours: 24, label: "A day" },
  { hours: 7 * 24, label: "A week" },
  { hours: 30 * 24, label: "30 days" },
];
type Choice = { value: Scope; label: string; hint: string };
const EXACT: Choice = { value: "exact", label: "Exactly this", hint: "The same call with the same words, on the same machine." };
/** A command names no folder that it would stay in. */
const OF_COMMANDS: Choice[] = [EXACT, { value: "tool", label: "Any command", hint: "Whatever it does, on the same machine." }];
const OF_CALLS: Choice[] = [
  EXACT,
  { value: "folder", label: "This, in the same folder", hint: "The same kind of call for anything below the folder." },
  { value: "tool", label: "This kind of call", hint: "With any arguments, on the same machine." },
];

type RememberProps = {
  syscall: string;
  fresh: FreshPress;
  isBusy: boolean;
  onCancel: () => void;
  onAllow: (answer: QuestionAnswer) => void;
};

export function RememberForm({ syscall, fresh, isBusy, onCancel, onAllow }: RememberProps) {
  const [scope, setScope] = useState<Scope>("exact");
  const [hours, setHours] = useState("24");
  const times = TIMES.filter((time) => time.hours <= LONGEST_HOURS[scope]);
  const chosen = times.some((time) => String(time.hours) === hours) ? hours : "24";
  const form = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);
  return (
    <div class="question-form" ref={form}>
      <Radio legend="Allow without asking" value={scope} options={syscall === "shell.exec" ? OF_COMMANDS : OF_CALLS} onValue={setScope} />
      <Select
        label="For how long"
        value={chosen}
        options={times.map((time) => ({ value: String(time.hours), label: time.label }))}
        onValue={setHours}
      />
      <div class="question-answers">
        <Button
          look="primary"
          busy={isBusy}
          onClick={fresh.pressed(() => onAllow({ decision: "approve", remember: true, scope, ttlMs: Number(chosen) * HOUR_MS }))}
        >
          Allow
        </Button>
        <Button look="quiet" disabled={isBusy} onClick={onCancel}>
          Back
        </Button>
      </div>
    </div>
  );
}
