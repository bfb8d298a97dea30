// A moment, as people say it: "3 minutes ago", with the exact one for whoever points at it. All of them tell the time anew
// together.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ago } from "./ago.ts";

const EVERY_MS = 15_000;
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const now = signal(Date.now());
let shown = 0;
let ticking: ReturnType<typeof setInterval> | undefined;

/** `at` in milliseconds since 1970. */
export function Time({ at }: { at: number }) {
  useEffect(() => {
    shown += 1;
    now.value = Date.now();
    ticking ??= setInterval(() => (now.value = Date.now()), EVERY_MS);
    return () => {
      shown -= 1;
      if (shown > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    };
  }, []);
  return (
    <time dateTime={new Date(at).toISOString()} title={exact.format(at)}>
      {ago(at, now.value)}
    </time>
  );
}
