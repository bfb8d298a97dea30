// The next runs of a schedule.

import { Time } from "../ui/time.tsx";
import { formatWhen } from "../ui/format-time.ts";

export function NextRuns({ runs }: { runs: readonly number[] }) {
  if (runs.length === 0) return <p class="soft">It does not run any more.</p>;
  return (
    <ol class="next-runs" aria-label="Next runs">
      {runs.map((at) => (
        <li key={at}>
          {formatWhen(at)}{" "}
          <span class="soft small">
            (<Time at={at} />)
          </span>
        </li>
      ))}
    </ol>
  );
}
