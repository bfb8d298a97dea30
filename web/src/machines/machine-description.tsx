// The description of a machine, edited in place.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Button } from "../ui/button.tsx";
import { TextArea } from "../ui/text-area.tsx";

const CHARS_MAX = 500;

type DescriptionProps = { device: { deviceId: string; description: string }; mayEdit: boolean; onSaved: () => void };

export function MachineDescription({ device: { deviceId, description }, mayEdit, onSaved }: DescriptionProps) {
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
        <p class={description === "" ? "soft" : undefined}>{makeVisible(description) || "No description yet."}</p>
        {mayEdit && <Button onClick={() => setDraft(description)}>{description === "" ? "Add a description" : "Edit"}</Button>}
      </div>
    );
  const lengthError = draft.trim().length > CHARS_MAX ? `At most ${CHARS_MAX} characters. You have ${draft.trim().length}.` : null;
  const save = async () => {
    const isSaved = await operation.run(() => call("sys.device.update", { deviceId, description: draft }));
    if (!isSaved) return;
    setDraft(null);
    onSaved();
  };
  return (
    <form
      class="stack"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (lengthError === null) void save();
      }}
    >
      <TextArea
        label="Description"
        hint="For example: the laptop in the kitchen, with the photos."
        error={lengthError ?? operation.problem}
        value={draft}
        onValue={setDraft}
      />
      <div class="row">
        <Button type="submit" look="primary" busy={operation.isBusy} disabled={lengthError !== null}>
          Save
        </Button>
        <Button look="quiet" onClick={() => setDraft(null)}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
