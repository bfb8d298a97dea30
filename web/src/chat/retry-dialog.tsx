// The dialog that asks which model should answer instead. The choice counts for this answer only.

import { useLatest } from "../state/use-latest.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { ModelList, type ModelRef } from "./model-picker.tsx";

export function RetryDialog({ onClose, onModel }: { onClose: () => void; onModel: (model: ModelRef) => void }) {
  const latest = useLatest("ai.models", {});
  return (
    <Dialog title="Retry with another model" onClose={onClose}>
      <div class="picker">
        <p class="soft small">The conversation keeps its model for the messages that follow.</p>
        <Loaded latest={latest} label="Loading the models">
          {({ models }) => <ModelList models={models} shown={null} onChoose={({ provider, model }) => onModel({ provider, model })} />}
        </Loaded>
      </div>
    </Dialog>
  );
}
