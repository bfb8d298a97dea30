// What a machine is for, edited where it stands.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Button } from "../ui/button.tsx";
import { TextArea } from "../ui/text-area.tsx";

const CHARS_MAX = 500;

type DescriptionProps = { device: { deviceId: string; description: string }; mayEdit: boolean; onSaved: () => void };

export function Description({ device: { deviceId, description }, mayEdit, onSaved }: DescriptionProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const operation = useOperation();
  const form = useRef<HTMLFormElement>(null);
  const isEditing = draft !== null;
  useLayoutEffect(() => {
    if (isEditing) form.current?.querySelector("textarea")?.focus();
  }, [isEditing]);
  if (draft === null)
    return (
      <div class="machine-words">
        <p class={description === "" ? "soft" : undefined}>{makeVisible(description) || "Nothing is said of it yet."}</p>
        {mayEdit && <Button onClick={() => setDraft(description)}>{description === "" ? "Describe it" : "Edit"}</Button>}
      </div>
    );
  const tooLong = draft.trim().length > CHARS_MAX ? `At most ${CHARS_MAX} characters; these are ${draft.trim().length}.` : null;
  const save = async () => {
    const isDone = await operation.run(() => call("sys.device.update", { deviceId, description: draft }));
    if (!isDone) return;
    setDraft(null);
    onSaved();
  };
  return (
    <form
      class="stack"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (tooLong === null) void save();
      }}
    >
      <TextArea
        label="Description"
        hint="Such as: the laptop in the kitchen, with the photos."
        error={tooLong ?? operation.problem}
        value={draft}
        onValue={setDraft}
      />
      <div class="row">
        <Button type="submit" look="primary" busy={operation.isBusy} disabled={tooLong !== null}>
          Save
        </Button>
        <Button look="quiet" onClick={() => setDraft(null)}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
