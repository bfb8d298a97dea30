// The dialog that starts an agent for a task.

import { nameOfAgentKind } from "../../../src/lib/agent-names.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { useState } from "preact/hooks";
import { agents } from "../state/agents.ts";
import { call, describeError } from "../state/call.ts";
import { useLatest } from "../state/use-latest.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Radio } from "../ui/choice.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { makeTitle } from "./conversation-names.ts";
import { openConversation } from "./conversation-links.ts";

export function NewTask({ onClose }: { onClose: () => void }) {
  const profiles = useLatest("proc.profile.list", {});
  const [profile, setProfile] = useState("task");
  const [label, setLabel] = useState("");
  const [prompt, setPrompt] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const start = async () => {
    setBusy(true);
    setProblem(null);
    const name = label.trim() || makeTitle(prompt);
    try {
      const started = await call("proc.spawn", {
        profile,
        ...(name === "" ? {} : { label: name }),
        ...(prompt.trim() === "" ? {} : { prompt: prompt.trim() }),
      });
      void agents.refetch();
      onClose();
      openConversation(started.pid);
    } catch (error) {
      setProblem(describeError(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="New task"
      onClose={onClose}
      isKept
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={isBusy} onClick={() => void start()}>
            Start
          </Button>
        </>
      }
    >
      <div class="stack">
        <TextArea label="Task" value={prompt} onValue={setPrompt} placeholder="Tidy up my notes." />
        <TextInput
          label="Name"
          hint="How you find it in the list. From the first words, if left empty."
          value={label}
          onValue={setLabel}
          maxLength={100}
        />
        <Loaded latest={profiles} label="Loading kinds of agents">
          {({ profiles }) => (
            <Radio
              legend="Kind of agent"
              boxes
              value={profile}
              onValue={setProfile}
              options={profiles
                .filter(({ startable, spawnMode }) => startable && spawnMode === "new")
                .map(({ id, description }) => ({ value: id, label: nameOfAgentKind(id, makeVisible), hint: makeVisible(description) }))}
            />
          )}
        </Loaded>
        {problem !== null && <Banner tone="bad">{problem}</Banner>}
      </div>
    </Dialog>
  );
}
