// The form for a new schedule: one sentence, which the gateway reads while it is typed. What it understood is shown with the next runs
// before anything is added.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { type Args, call } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { NextRuns } from "./next-runs.tsx";
import { capitalize, TIMEZONE } from "./schedules.ts";
import { usePreview } from "./use-preview.ts";

type AddArgs = Args<"sched.add">;
type CatchUp = NonNullable<AddArgs["catchUp"]>;
type Notify = NonNullable<AddArgs["notify"]>;
type Profile = "cron" | "task";

const NAME_CHARS_MAX = 60;
const SUGGESTIONS = [
  "every weekday at 9 summarise my notes",
  "tomorrow at 10 remind me to call mum",
  "every 2 hours check the disks of my machines",
];

const PROFILES: { value: Profile; label: string; hint?: string }[] = [
  { value: "cron", label: "Refuse it, and go on without" },
  { value: "task", label: "Ask me, and wait for the answer" },
];
const CATCH_UPS: { value: CatchUp; label: string }[] = [
  { value: "once", label: "Make up for it with one run" },
  { value: "skip", label: "Skip it" },
];
export const NOTIFIES: { value: Notify; label: string }[] = [
  { value: "all", label: "After every run" },
  { value: "failures", label: "Only after failures" },
  { value: "none", label: "Never" },
];

export function NewSchedule({ onAdded }: { onAdded: (id: string) => void }) {
  const [sentence, setSentence] = useState("");
  const [name, setName] = useState<string | null>(null);
  const [profile, setProfile] = useState<Profile>("cron");
  const [catchUp, setCatchUp] = useState<CatchUp>("once");
  const [notify, setNotify] = useState<Notify>("all");
  const operation = useOperation();
  const { preview, problem } = usePreview(sentence, true);
  const text = preview?.rest?.trim() ?? "";
  const isComplete = preview !== null && text !== "";
  const add = () =>
    operation.run(async () => {
      if (preview === null) return;
      const title = (name ?? text).trim().slice(0, NAME_CHARS_MAX);
      const { schedule } = await call("sched.add", {
        name: title === "" ? text.slice(0, NAME_CHARS_MAX) : title,
        expression: preview.expression,
        target: { kind: "process.spawn", profile, prompt: text },
        catchUp,
        notify,
      });
      setSentence("");
      setName(null);
      onAdded(schedule.id);
    });
  return (
    <Card title="When, and what?" text="Say when, and what an agent should do then.">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) void add();
        }}
      >
        <TextInput
          label="When and what"
          hint={`Times are in ${TIMEZONE}.`}
          error={sentence.trim() === "" ? null : (problem ?? (preview !== null && text === "" ? "Say what to do as well." : null))}
          value={sentence}
          onValue={setSentence}
          maxLength={2_000}
          autocomplete="off"
        />
        {sentence.trim() === "" && (
          <ul class="suggestions" aria-label="Examples">
            {SUGGESTIONS.map((one) => (
              <li key={one}>
                <button type="button" class="suggestion" onClick={() => setSentence(one)}>
                  {one}
                </button>
              </li>
            ))}
          </ul>
        )}
        {isComplete && (
          <div class="preview" role="status">
            <p>
              <strong>{capitalize(makeVisible(preview.says))}</strong>: {makeVisible(text)}
            </p>
            <NextRuns runs={preview.nextRunsMs} />
          </div>
        )}
        <details>
          <summary>Options: name, approvals, missed times, notifications</summary>
          <div class="stack more-fields">
            <TextInput label="Name" value={name ?? text.slice(0, NAME_CHARS_MAX)} onValue={setName} maxLength={200} autocomplete="off" />
            <Select label="If something needs your approval" value={profile} options={PROFILES} onValue={setProfile} />
            <Select label="If the gateway was not running" value={catchUp} options={CATCH_UPS} onValue={setCatchUp} />
            <Select label="Notify me" value={notify} options={NOTIFIES} onValue={setNotify} />
          </div>
        </details>
        {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
        <div>
          <Button type="submit" look="primary" icon="plus" busy={operation.isBusy} disabled={!isComplete}>
            Add schedule
          </Button>
        </div>
      </form>
    </Card>
  );
}
