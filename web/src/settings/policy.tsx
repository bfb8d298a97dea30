// The approval policy of a profile: the default policy, or a custom one as JSON, checked by the gateway while the user types.
// Before it is saved, the page shows its effect on sample calls.

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
import { type Layer, useLayer, writeSettings } from "./settings-layer.ts";
import { PolicyChanges } from "./policy-changes.tsx";
import { PolicyTest } from "./policy-test.tsx";
import { useSettingsScope, ScopeSwitch } from "./scope-switch.tsx";

const DEBOUNCE_MS = 300;

export function Policy() {
  const [scope, setSystem] = useSettingsScope();
  const [profile, setProfile] = useState("init");
  const profiles = useLatest("proc.profile.list", {});
  const layer = useLayer(scope.prefix);
  return (
    <Loaded latest={profiles} label="Loading profiles">
      {({ profiles }) => (
        <>
          <Card title="Approval policy" text="Which calls of an agent run by themselves, which you are asked about, and which never run.">
            <ScopeSwitch isSystem={scope.isSystem} onSystem={setSystem} />
            <Select
              label="Kind of agent"
              hint={makeVisible(profiles.find(({ id }) => id === profile)?.description ?? "")}
              value={profile}
              options={profiles.map(({ id, displayName, description }) => ({ value: id, label: displayName, hint: description }))}
              onValue={setProfile}
            />
          </Card>
          <Loaded latest={layer} label="Loading the policy">
            {(stored) => <Editor key={`${scope.prefix} ${profile}`} prefix={scope.prefix} profile={profile} stored={stored} />}
          </Loaded>
        </>
      )}
    </Loaded>
  );
}

function Editor({ prefix, profile, stored }: { prefix: string; profile: string; stored: Layer }) {
  const name = `profile/${profile}/tools/approval`;
  const savedText = stored.get(name)?.trim() ?? "";
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? savedText;
  const check = usePolicyCheck(text);
  const operation = useOperation();
  const save = async (value: string) => {
    if (!(await operation.run(() => writeSettings(prefix, [[name, value]])))) return;
    setDraft(null);
    showNotice(value === "" ? "The standard policy counts again" : "The policy counts from now on", "good");
  };
  const isOwn = text !== "";
  const isSaved = draft === null || draft === savedText;
  return (
    <>
      <Card
        title={isOwn ? "Its policy" : "The standard policy counts"}
        text={isOwn ? "The first rule that fits decides. Where root wrote one as well, the stricter decides." : STANDARD_TEXT}
        actions={isOwn && <Badge tone={isSaved ? "good" : "warn"}>{isSaved ? "Counts now" : "Not saved"}</Badge>}
      >
        {!isOwn && (
          <div>
            <Button onClick={() => setDraft(formatStandardPolicy(profile))}>Write one, from the standard</Button>
          </div>
        )}
        {isOwn && (
          <>
            <div class="policy-text">
              <TextArea
                label="Policy, in JSON"
                error={check.problem}
                {...(check.problem === null ? { hint: check.hint } : {})}
                value={text}
                onValue={setDraft}
              />
            </div>
            {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
            <div class="row">
              <Button
                look="primary"
                busy={operation.isBusy}
                disabled={isSaved || check.problem !== null || check.isChecking}
                onClick={() => void save(text)}
              >
                Save
              </Button>
              {draft !== null && (
                <Button look="quiet" onClick={() => setDraft(null)}>
                  Undo changes
                </Button>
              )}
              {savedText !== "" && (
                <Button look="quiet" onClick={() => void save("")}>
                  Go back to the standard
                </Button>
              )}
            </div>
          </>
        )}
      </Card>
      {isOwn && draft !== null && check.problem === null && <PolicyChanges profile={profile} policy={text} />}
      <PolicyTest profile={profile} policy={isOwn && draft !== null && check.problem === null ? text : null} />
    </>
  );
}

const STANDARD_TEXT =
  "Reading is free. On a machine everything else is asked about. On the gateway, agents write in homes and workspaces; what deletes, connects or changes how agents behave is asked about.";

/** Has the gateway check the text when the user pauses typing. */
function usePolicyCheck(text: string): { problem: string | null; hint: string; isChecking: boolean } {
  const [checked, setChecked] = useState<{ text: string; problem: string | null } | null>(null);
  useEffect(() => {
    if (text === "") return;
    let isCurrent = true;
    const check = async () => {
      // If the check fails, saving checks again.
      const answer = await call("proc.approval.preview", { policy: text, call: "sys.info" }).catch(() => null);
      if (isCurrent) setChecked({ text, problem: answer?.problem ?? null });
    };
    const timer = setTimeout(() => void check(), DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);
  const isChecking = text !== "" && checked?.text !== text;
  return {
    problem: isChecking ? null : (checked?.problem ?? null),
    hint: isChecking ? "Checking…" : "The gateway can read it.",
    isChecking,
  };
}

function formatStandardPolicy(profile: string): string {
  const standard = defaultPolicy(profile);
  return standard.ok
    ? JSON.stringify(standard.policy, null, 1).replaceAll(/\{\s*"match":[^{}]*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}[^{}]*)?\}/g, joinLines)
    : "";
}

/** Puts a rule on one line. */
function joinLines(rule: string): string {
  return rule.replaceAll(/\s*\n\s*/g, " ");
}
