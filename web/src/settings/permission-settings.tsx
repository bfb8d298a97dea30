// What agents may do, all of them or those of a kind: the default policy, or one of one's own, set by switches or written as JSON. The
// text of the policy is what is edited and stored, for every kind it applies to; the switches are read from it. A policy that no
// switches can express is only shown as JSON.

import { useEffect, useState } from "preact/hooks";
import { defaultSwitches } from "../../../src/approval/switches.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { nameOfAgentKind } from "../../../src/lib/agent-names.ts";
import { call, describeError, type Result } from "../state/call.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { useKeptDraft } from "./kept-draft.ts";
import { PolicyChanges } from "./policy-changes.tsx";
import { PolicySwitches } from "./policy-switches.tsx";
import { PolicyTest } from "./policy-test.tsx";
import { formatSwitches, parseSwitches } from "./policy-text.ts";
import { SaveBar } from "./save-bar.tsx";
import { ScopeSwitch, useSettingsScope } from "./scope-switch.tsx";
import { type Layer, useLayer, writeSettings } from "./settings-layer.ts";

type Profile = Result<"proc.profile.list">["profiles"][number];

/** Every kind of agent. No profile has this name. */
const ALL = "*";
/** Whose policy is shown where kinds differ. */
const PERSONAL = "init";
const DEBOUNCE_MS = 300;

export function PermissionSettings() {
  const [scope, setSystem] = useSettingsScope();
  const [id, setId] = useState(ALL);
  const profiles = useLatest("proc.profile.list", {});
  const layer = useLayer(scope.prefix);
  return (
    <Loaded latest={profiles} label="Loading kinds of agents">
      {({ profiles }) => {
        const profile = profiles.find((one) => one.id === id);
        const kinds = profile === undefined ? profiles : [profile];
        return (
          <>
            <ScopeSwitch
              isSystem={scope.isSystem}
              onSystem={setSystem}
              text="Everybody's agents keep to it. Where somebody has set a policy of their own as well, the stricter decision counts."
            />
            <Select
              label="Kind of agent"
              hint={
                profile === undefined
                  ? "One policy for every kind of agent. Choose a kind to give it a policy of its own."
                  : `${makeVisible(profile.description)} Helpers that it starts keep to its policy as well.`
              }
              value={profile?.id ?? ALL}
              options={[
                { value: ALL, label: "All agents" },
                ...profiles.map(({ id }) => ({ value: id, label: nameOfAgentKind(id, makeVisible) })),
              ]}
              onValue={setId}
            />
            <Loaded latest={layer} label="Loading the policy">
              {(stored) => (
                <Editor
                  key={`${scope.prefix} ${profile?.id ?? ALL}`}
                  prefix={scope.prefix}
                  kindId={profile?.id ?? ALL}
                  isSystem={scope.isSystem}
                  kinds={kinds}
                  stored={stored}
                  onSaved={() => layer.refetch()}
                />
              )}
            </Loaded>
          </>
        );
      }}
    </Loaded>
  );
}

/** `base` is what was stored when it was begun. */
type Draft = { text: string; base: string } | null;
/** `kindId`: the kind of agent that was chosen, or all. */
type EditorProps = {
  prefix: string;
  kindId: string;
  isSystem: boolean;
  kinds: readonly Profile[];
  stored: Layer;
  onSaved: () => Promise<void>;
};

function Editor({ prefix, kindId, isSystem, kinds, stored, onSaved }: EditorProps) {
  const { id } = kinds.find((kind) => kind.id === PERSONAL) ?? kinds[0]!;
  const unattended = kinds.filter(({ background }) => background);
  /** Nobody can be asked. Where only some kinds are unattended, the others can be. */
  const background = unattended.length === kinds.length;
  const savedTexts = kinds.map((kind) => stored.get(settingOf(kind.id))?.trim() ?? "");
  const savedText = savedTexts[kinds.findIndex((kind) => kind.id === id)]!;
  const areDifferent = new Set(savedTexts).size > 1;
  const saved = JSON.stringify(savedTexts);
  const isUnsaved = (draft: Draft) => draft !== null && (areDifferent || draft.text !== savedText);
  const [draft, setDraft] = useKeptDraft<Draft>(
    { page: "permissions", title: "Permissions", part: `${prefix} ${kindId}` },
    null,
    isUnsaved,
  );
  const [savedAt, setSavedAt] = useState<number | null>(null);
  const operation = useOperation();
  const text = draft?.text ?? savedText;
  const check = usePolicyCheck(text);
  const hasChanges = isUnsaved(draft);
  const edit = (text: string) => setDraft({ text, base: draft?.base ?? saved });
  const save = async () => {
    const isSaved = await operation.run(async () => {
      await writeSettings(
        prefix,
        kinds.map((kind) => [settingOf(kind.id), text] as const),
      );
      await onSaved();
    });
    if (!isSaved) return;
    setDraft((current) => (current?.text === text ? null : current));
    setSavedAt(Date.now());
  };
  const isOwn = text !== "";
  const read = isOwn ? parseSwitches(text) : { switches: defaultSwitches(background), missing: [] };
  return (
    <>
      <form
        class="settings-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (hasChanges && check.problem === null && !check.isChecking) void save();
        }}
      >
        <Card
          title={areDifferent ? "The policies differ" : isOwn ? "Using a policy of your own" : "Using the default policy"}
          text={areDifferent ? DIFFERENT_TEXT : isOwn ? OWN_TEXT : DEFAULT_TEXT}
          actions={
            isOwn || areDifferent ? (
              <Button look="quiet" onClick={() => edit("")}>
                Use the default policy
              </Button>
            ) : (
              <Button onClick={() => edit(formatSwitches(defaultSwitches(background)))}>Customize</Button>
            )
          }
        >
          {areDifferent && (
            <div class="row">
              <Button disabled={draft !== null} onClick={() => edit(savedText)}>
                Use the personal agent's for all
              </Button>
            </div>
          )}
          {!background && unattended.length > 0 && (
            <p>Nobody can be asked while {nameKinds(unattended)} runs: there, Ask means that it does not run.</p>
          )}
          {background && <p>Nobody can be asked while this work runs: what is not allowed does not run.</p>}
          {hasChanges && !operation.isBusy && draft?.base !== saved && (
            <Banner
              tone="warn"
              actions={
                <Button look="quiet" onClick={() => setDraft(null)}>
                  Show it
                </Button>
              }
            >
              This policy was changed elsewhere while you edited it. Saving replaces that change.
            </Banner>
          )}
          {read !== null && read.missing.length > 0 && (
            <Banner>
              <p>
                This policy says nothing of{" "}
                {read.missing.length === 1 ? "1 newer kind of call" : `${read.missing.length} newer kinds of calls`}. A change of a switch
                adds them as the default policy has them.
              </p>
              <details>
                <summary>Details</summary>
                <code>{read.missing.join(", ")}</code>
              </details>
            </Banner>
          )}
        </Card>
        {read === null ? (
          <Banner
            tone="warn"
            actions={<Button onClick={() => edit(formatSwitches(defaultSwitches(background)))}>Start from the default</Button>}
          >
            This policy has rules that switches cannot show. It stays as it is: edit it below, or start again with switches.
          </Banner>
        ) : (
          <PolicySwitches
            switches={read.switches}
            isUnattended={background}
            isSystem={isSystem}
            onChange={(switches) => edit(formatSwitches(switches))}
          />
        )}
        {isOwn && (
          <details class="settings-advanced" id="setting-advanced" open={read === null}>
            <summary>Advanced: policy as JSON</summary>
            <div class="policy-text">
              <TextArea
                label="Policy, in JSON"
                error={check.problem}
                {...(check.problem === null ? { hint: check.hint } : {})}
                value={text}
                onValue={edit}
              />
            </div>
          </details>
        )}
        {hasChanges && read !== null && check.problem !== null && <Banner tone="bad">{check.problem}</Banner>}
        {hasChanges && isOwn && check.problem === null && <PolicyChanges profile={id} policy={text} />}
        <SaveBar
          operation={operation}
          hasChanges={hasChanges}
          hasError={check.problem !== null || check.isChecking}
          savedAt={savedAt}
          onDiscard={() => setDraft(null)}
        />
      </form>
      <PolicyTest profile={id} policy={hasChanges && isOwn && check.problem === null ? text : null} />
    </>
  );
}

const DIFFERENT_TEXT =
  "The kinds of agents have different policies. The switches start from the personal agent's. Saving here gives every kind the same policy.";
const OWN_TEXT =
  "Where several switches fit, the strictest decides. A conversation that you set to Trusted still asks what this policy says to ask about.";
const DEFAULT_TEXT =
  "Change any switch to make a policy of your own. Agents read without asking, and work in their home and workspaces on the gateway. They ask before they change anything on a machine, delete, connect, or read secrets.";

function settingOf(profile: string): string {
  return `profile/${profile}/tools/approval`;
}

function nameKinds(kinds: readonly Profile[]): string {
  return kinds.map(({ id }) => nameOfAgentKind(id, makeVisible).toLowerCase()).join(", ");
}

/** Has the gateway check the text when the user pauses typing. */
function usePolicyCheck(text: string): { problem: string | null; hint: string; isChecking: boolean } {
  const [checked, setChecked] = useState<{ text: string; problem: string | null } | null>(null);
  useEffect(() => {
    if (text === "") return;
    let isCurrent = true;
    const check = async () => {
      try {
        const { problem } = await call("proc.approval.preview", { policy: text, call: "sys.info" });
        if (isCurrent) setChecked({ text, problem: problem ?? null });
      } catch (error) {
        if (isCurrent) setChecked({ text, problem: `The policy could not be checked: ${describeError(error)}` });
      }
    };
    const timer = setTimeout(() => void check(), DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);
  const isChecking = text !== "" && checked?.text !== text;
  return {
    problem: isChecking || text === "" ? null : (checked?.problem ?? null),
    hint: isChecking ? "Checking…" : "The gateway can read it.",
    isChecking,
  };
}
