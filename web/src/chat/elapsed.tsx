// The elapsed time of something that runs.

import { useEffect, useState } from "preact/hooks";

const UPDATE_MS = 1_000;

/** Shows nothing in the first two seconds. */
export function Elapsed({ since, until = null }: { since: number; until?: number | null }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (until !== null) return;
    const timer = setInterval(() => setNow(Date.now()), UPDATE_MS);
    return () => clearInterval(timer);
  }, [until]);
  const seconds = Math.max(0, Math.floor(((until ?? now) - since) / 1_000));
  if (seconds < 2) return null;
  return <span class="elapsed">{seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`}</span>;
}
