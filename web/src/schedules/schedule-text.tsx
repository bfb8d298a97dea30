// What a schedule does: the text for its agent, shown and changed.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { joinPath } from "../frame/route.ts";
import { call } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { type Schedule, schedules } from "./schedules.ts";

export function ScheduleText({ schedule: { id, target } }: { schedule: Schedule }) {
  const said = target.kind === "process.spawn" ? target.prompt : target.message;
  const [draft, setDraft] = useState<string | null>(null);
  const operation = useOperation();
  const save = (text: string) =>
    operation.run(async () => {
      const changed = target.kind === "process.spawn" ? { ...target, prompt: text } : { ...target, message: text };
      await call("sched.update", { id, patch: { target: changed } });
      await schedules.refetch();
      setDraft(null);
    });
  return (
    <Card
      title="What to do"
      text={
        target.kind === "process.spawn"
          ? (PROFILE_WORDS[target.profile ?? "cron"] ?? `A new agent of the kind ${target.profile}.`)
          : "A message to an agent that you have."
      }
      actions={
        draft === null && (
          <Button icon="edit" onClick={() => setDraft(said)}>
            Change
          </Button>
        )
      }
    >
      {draft === null ? (
        <p class="schedule-said">{makeVisible(said)}</p>
      ) : (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (draft.trim() !== "") void save(draft.trim());
          }}
        >
          <TextArea label="What the agent is told" value={draft} onValue={setDraft} takesFocus />
          {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
          <div class="row">
            <Button type="submit" look="primary" busy={operation.isBusy} disabled={draft.trim() === ""}>
              Save
            </Button>
            <Button onClick={() => setDraft(null)}>Cancel</Button>
          </div>
        </form>
      )}
      {target.kind === "process.event" && (
        <p>
          <Link to={joinPath("chat", target.pid)}>Open the agent</Link>
        </p>
      )}
    </Card>
  );
}

const PROFILE_WORDS: Readonly<Record<string, string>> = {
  cron: "A new agent works by itself; what would need your approval is refused.",
  task: "A new agent works, and asks you for what needs your approval.",
};
