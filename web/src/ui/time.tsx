// A relative time, "3 minutes ago", with the exact time as tooltip. One timer updates all of them.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatExactly } from "./format-time.ts";
import { formatRelativeTime } from "./relative-time.ts";

const UPDATE_MS = 15_000;
const now = signal(Date.now());
let mountedCount = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** `at`: milliseconds since the epoch. */
export function Time({ at }: { at: number }) {
  useEffect(() => {
    mountedCount += 1;
    now.value = Date.now();
    timer ??= setInterval(() => (now.value = Date.now()), UPDATE_MS);
    return () => {
      mountedCount -= 1;
      if (mountedCount > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  // What has just happened is later than the last update of the others.
  const renderedAt = Date.now();
  return (
    <time dateTime={new Date(at).toISOString()} title={formatExactly(at)}>
      {formatRelativeTime(at, Math.max(now.value, renderedAt))}
    </time>
  );
}
