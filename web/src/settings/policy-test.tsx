// Tries one call against the stored or the edited policy, without running it.

import { useEffect, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isTag, TAGS } from "../../../src/approval/request.ts";
import { call, describeError, type Result } from "../state/call.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { ACTION_TONES, ACTION_WORDS, SAMPLES } from "./policy-samples.ts";
import { Setting } from "./setting.tsx";

const ANOTHER = "(another)";
const DEBOUNCE_MS = 300;

/** `policy`: null for the stored one. */
export function PolicyTest({ profile, policy }: { profile: string; policy: string | null }) {
  const [sample, setSample] = useState(SAMPLES[0]!.title);
  const [name, setName] = useState("shell.exec");
  const [args, setArgs] = useState('{ "input": "rm -r ~/old", "target": "gsv" }');
  const known = SAMPLES.find(({ title }) => title === sample);
  const parsed = known?.args ?? parseObject(args);
  const preview = usePreview(profile, policy, known?.call ?? name.trim(), parsed);
  return (
    <Setting anchor="try">
      <Card
        title="Try a call"
        text={
          policy === null ? "Against the policy in use. Nothing is run." : "Against the policy above, before it is saved. Nothing is run."
        }
      >
        <Select
          label="What an agent wants to do"
          value={sample}
          options={[...SAMPLES.map(({ title }) => ({ value: title, label: title })), { value: ANOTHER, label: "Another call…" }]}
          onValue={setSample}
        />
        {known === undefined && (
          <>
            <TextInput label="Call" value={name} onValue={setName} autocapitalize="none" />
            <TextArea label="Arguments, in JSON" error={parsed === null ? "Not an object in JSON." : null} value={args} onValue={setArgs} />
          </>
        )}
        <div class="stack policy-outcome" role="status">
          {preview.problem !== null && <Banner tone="bad">{makeVisible(preview.problem)}</Banner>}
          {preview.result !== null && <Outcome result={preview.result} />}
        </div>
      </Card>
    </Setting>
  );
}

function Outcome({ result: { action, tags, why } }: { result: Result<"proc.approval.preview"> }) {
  const reasons = tags.map((tag) => (isTag(tag) ? TAGS[tag] : makeVisible(tag)));
  return (
    <>
      <p class="row">
        <Badge tone={ACTION_TONES[action]}>{ACTION_WORDS[action]}</Badge>
        {action !== "auto" && reasons.length > 0 && <span class="soft">Why: {reasons.join("; ")}.</span>}
      </p>
      <details>
        <summary class="small">Details</summary>
        <p class="soft small">{makeVisible(why)}</p>
      </details>
    </>
  );
}

/** Asks again when something changes, once the user pauses typing. */
function usePreview(profile: string, policy: string | null, name: string, args: Record<string, unknown> | null) {
  const [shown, setShown] = useState<{ result: Result<"proc.approval.preview"> | null; problem: string | null }>({
    result: null,
    problem: null,
  });
  const key = JSON.stringify([profile, policy, name, args]);
  useEffect(() => {
    if (args === null || name === "") return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      call("proc.approval.preview", { profile, call: name, args, ...(policy === null ? {} : { policy }) }).then(
        (result) => isCurrent && setShown({ result, problem: null }),
        (error: unknown) => isCurrent && setShown({ result: null, problem: describeError(error) }),
      );
    }, DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  return shown;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
