// A progress bar; indeterminate without a value.

import { useId } from "preact/hooks";
import "./progress.css";

/** `value` from 0 to 1. */
export function Progress({ label, value, words }: { label: string; value?: number; words?: string }) {
  const id = useId();
  return (
    <div class="progress">
      <label class="progress-words" for={id}>
        <span>{label}</span>
        {words !== undefined && <span class="soft">{words}</span>}
      </label>
      <progress class="progress-bar" id={id} max={1} value={value} />
    </div>
  );
}
