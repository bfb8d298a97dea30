// The approval policy of a profile: the standard one, or one's own as JSON, checked by the gateway as one types. What it would
// change is tried on a few usual calls before it counts.

import { useEffect, useState } from "preact/hooks";
import { defaultPolicy } from "../../../src/approval/defaults.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { useLatest } from "../state/use-latest.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { type Layer, useLayer, write } from "./layer.ts";
import { PolicyChanges } from "./policy-changes.tsx";
import { PolicyTrial } from "./policy-trial.tsx";
import { useWhose, WhoseChoice } from "./scope-switch.tsx";

const PAUSE_MS = 300;

export function Policy() {
  const [whose, setSystem] = useWhose();
  const [profile, setProfile] = useState("init");
  const profiles = useLatest("proc.profile.list", {});
  const layer = useLayer(whose.prefix);
  return (
    <Loaded latest={profiles} label="Loading profiles">
      {({ profiles }) => (
        <>
          <Card title="Approval policy" text="Which calls of an agent run by themselves, which you are asked about, and which never run.">
            <WhoseChoice isSystem={whose.isSystem} onSystem={setSystem} />
            <Select
              label="Kind of agent"
              hint={makeVisible(profiles.find(({ id }) => id === profile)?.description ?? "")}
              value={profile}
              options={profiles.map(({ id, displayName, description }) => ({ value: id, label: displayName, hint: description }))}
              onValue={setProfile}
            />
          </Card>
          <Loaded latest={layer} label="Loading the policy">
            {(stored) => <Editor key={`${whose.prefix} ${profile}`} prefix={whose.prefix} profile={profile} stored={stored} />}
          </Loaded>
        </>
      )}
    </Loaded>
  );
}

function Editor({ prefix, profile, stored }: { prefix: string; profile: string; stored: Layer }) {
  const name = `profile/${profile}/tools/approval`;
  const kept = stored.get(name)?.trim() ?? "";
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? kept;
  const problem = useProblem(text);
  const operation = useOperation();
  const save = async (value: string) => {
    if (!(await operation.run(() => write(prefix, [[name, value]])))) return;
    setDraft(null);
    showNotice(value === "" ? "The standard policy counts again" : "The policy counts from now on", "good");
  };
  const isOwn = text !== "";
  const isSaved = draft === null || draft === kept;
  return (
    <>
      <Card
        title={isOwn ? "Its policy" : "The standard policy counts"}
        text={isOwn ? "The first rule that fits decides. Where root wrote one as well, the stricter decides." : STANDARD}
        actions={isOwn && <Badge tone={isSaved ? "good" : "warn"}>{isSaved ? "Counts now" : "Not saved"}</Badge>}
      >
        {!isOwn && (
          <div>
            <Button onClick={() => setDraft(standardText(profile))}>Write one, from the standard</Button>
          </div>
        )}
        {isOwn && (
          <>
            <div class="policy-text">
              <TextArea
                label="Policy, in JSON"
                error={problem.text}
                {...(problem.text === null ? { hint: problem.hint } : {})}
                value={text}
                onValue={setDraft}
              />
            </div>
            {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
            <div class="row">
              <Button
                look="primary"
                busy={operation.isBusy}
                disabled={isSaved || problem.text !== null || problem.isChecking}
                onClick={() => void save(text)}
              >
                Save
              </Button>
              {draft !== null && (
                <Button look="quiet" onClick={() => setDraft(null)}>
                  Undo changes
                </Button>
              )}
              {kept !== "" && (
                <Button look="quiet" onClick={() => void save("")}>
                  Go back to the standard
                </Button>
              )}
            </div>
          </>
        )}
      </Card>
      {isOwn && draft !== null && problem.text === null && <PolicyChanges profile={profile} policy={text} />}
      <PolicyTrial profile={profile} policy={isOwn && draft !== null && problem.text === null ? text : null} />
    </>
  );
}

const STANDARD =
  "Reading is free. On a machine everything else is asked about. On the gateway, agents write in homes and workspaces; what deletes, connects or changes how agents behave is asked about.";

/** What the gateway says of the text, a moment after the last key. */
function useProblem(text: string): { text: string | null; hint: string; isChecking: boolean } {
  const [checked, setChecked] = useState<{ of: string; problem: string | null } | null>(null);
  useEffect(() => {
    if (text === "") return;
    let isHere = true;
    const check = async () => {
      // Where the gateway cannot be asked, saving asks it again.
      const answer = await call("proc.approval.preview", { policy: text, call: "sys.info" }).catch(() => null);
      if (isHere) setChecked({ of: text, problem: answer?.problem ?? null });
    };
    const timer = setTimeout(() => void check(), PAUSE_MS);
    return () => {
      isHere = false;
      clearTimeout(timer);
    };
  }, [text]);
  const isChecking = text !== "" && checked?.of !== text;
  return { text: isChecking ? null : (checked?.problem ?? null), hint: isChecking ? "Checking…" : "The gateway can read it.", isChecking };
}

function standardText(profile: string): string {
  const standard = defaultPolicy(profile);
  return standard.ok
    ? JSON.stringify(standard.policy, null, 1).replaceAll(/\{\s*"match":[^{}]*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}[^{}]*)?\}/g, onOneLine)
    : "";
}

/** A rule is read as a line. */
function onOneLine(rule: string): string {
  return rule.replaceAll(/\s*\n\s*/g, " ");
}
