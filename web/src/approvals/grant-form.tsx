// The form for a grant: its scope and duration.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { Radio, Select } from "../ui/choice.tsx";
import type { FreshPress } from "./fresh-press.ts";
import type { QuestionAnswer } from "./question.tsx";

type Scope = "exact" | "folder" | "tool";
const HOUR_MS = 3_600_000;
/** The gateway's limits: a wider scope has a shorter maximum. */
const HOURS_MAX: Record<Scope, number> = { exact: 30 * 24, folder: 7 * 24, tool: 24 };
const DURATIONS = [
  { hours: 1, label: "An hour" },
  { hours: 8, label: "8 hours" },
  { hours: 24, label: "A day" },
  { hours: 7 * 24, label: "A week" },
  { hours: 30 * 24, label: "30 days" },
];
type ScopeOption = { value: Scope; label: string; hint: string };
const EXACT: ScopeOption = { value: "exact", label: "Exactly this", hint: "The same call with the same words, on the same machine." };
/** There is no folder scope, because a command is not confined to a folder. */
const COMMAND_SCOPES: ScopeOption[] = [EXACT, { value: "tool", label: "Any command", hint: "Whatever it does, on the same machine." }];
/** What a script uses is judged separately, whatever is chosen here. */
const SCRIPT_SCOPES: ScopeOption[] = [
  { value: "exact", label: "Exactly this script", hint: "The same source, character by character." },
  { value: "tool", label: "Any script", hint: "Each file or command that it uses is judged separately." },
];
const MCP_SCOPES: ScopeOption[] = [
  { value: "exact", label: "Exactly this", hint: "The same tool of the same server, with the same arguments." },
  {
    value: "tool",
    label: "This tool",
    hint: "With any arguments. If the server changes what it says of the tool, it is not called at all.",
  },
];
const CALL_SCOPES: ScopeOption[] = [
  EXACT,
  { value: "folder", label: "This, in the same folder", hint: "The same kind of call for anything below the folder." },
  { value: "tool", label: "This kind of call", hint: "With any arguments, on the same machine." },
];
const SCOPES: Readonly<Record<string, ScopeOption[] | undefined>> = {
  "shell.exec": COMMAND_SCOPES,
  "codemode.exec": SCRIPT_SCOPES,
  "sys.mcp.call": MCP_SCOPES,
};

type GrantFormProps = {
  syscall: string;
  freshPress: FreshPress;
  isBusy: boolean;
  onCancel: () => void;
  onAllow: (answer: QuestionAnswer) => void;
};

export function GrantForm({ syscall, freshPress, isBusy, onCancel, onAllow }: GrantFormProps) {
  const [scope, setScope] = useState<Scope>("exact");
  const [hours, setHours] = useState("24");
  const durations = DURATIONS.filter((time) => time.hours <= HOURS_MAX[scope]);
  const selectedHours = durations.some((time) => String(time.hours) === hours) ? hours : "24";
  const form = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);
  return (
    <div class="question-form" ref={form}>
      <Radio legend="Allow without asking" value={scope} options={SCOPES[syscall] ?? CALL_SCOPES} onValue={setScope} />
      <Select
        label="For how long"
        value={selectedHours}
        options={durations.map((time) => ({ value: String(time.hours), label: time.label }))}
        onValue={setHours}
      />
      <div class="question-answers">
        <Button
          look="primary"
          busy={isBusy}
          onClick={freshPress.guard(() => onAllow({ decision: "approve", remember: true, scope, ttlMs: Number(selectedHours) * HOUR_MS }))}
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
