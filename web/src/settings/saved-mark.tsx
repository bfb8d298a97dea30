// Says that something was saved, where it was changed.

import { Icon } from "../ui/icon.tsx";

type SavedMarkProps = { savedAt: number | null; /** What is wrong with what was saved. */ warning?: string | null };

export function SavedMark({ savedAt, warning = null }: SavedMarkProps) {
  return (
    <span class={savedAt !== null && warning !== null ? "saved saved-warning" : "saved"} role="status">
      {savedAt !== null && (
        <>
          <Icon name={warning === null ? "check" : "warning"} />
          {warning ?? "Saved"}
        </>
      )}
    </span>
  );
}
