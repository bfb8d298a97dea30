// The elapsed time of something that runs.

import { useEffect, useState } from "preact/hooks";
import { formatDuration } from "../ui/format-duration.ts";

const UPDATE_MS = 1_000;

type ElapsedProps = { since: number; until?: number | null; /** Text in front of the time. */ before?: string };

/** Shows nothing in the first two seconds. */
export function Elapsed({ since, until = null, before = "" }: ElapsedProps) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (until !== null) return;
    const timer = setInterval(() => setNow(Date.now()), UPDATE_MS);
    return () => clearInterval(timer);
  }, [until]);
  const seconds = Math.max(0, Math.floor(((until ?? now) - since) / 1_000));
  if (seconds < 2) return null;
  const time = seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1_000);
  return <span class="elapsed">{`${before}${time}`}</span>;
}
