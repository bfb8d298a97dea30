// The end of a form: Save, Discard changes, and beside them what became of it.

import type { Operation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { SavedMark } from "./saved-mark.tsx";

type SaveBarProps = {
  operation: Operation;
  hasChanges: boolean;
  hasError: boolean;
  /** When it was saved last; null before that. */
  savedAt: number | null;
  /** What to say instead of "Saved". */
  warning?: string | null;
  onDiscard: () => void;
};

/** Save is a submit button. */
export function SaveBar({ operation, hasChanges, hasError, savedAt, warning = null, onDiscard }: SaveBarProps) {
  return (
    <>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      <div class="row save-bar">
        <Button type="submit" look="primary" busy={operation.isBusy} disabled={!hasChanges || hasError}>
          Save
        </Button>
        {hasChanges && !operation.isBusy && (
          <Button look="quiet" onClick={onDiscard}>
            Discard changes
          </Button>
        )}
        {hasChanges ? <span class="soft small">Not saved yet</span> : <SavedMark savedAt={savedAt} warning={warning} />}
      </div>
    </>
  );
}
