// A word about something's state. Its colour only repeats what the word says.

import type { ComponentChildren } from "preact";
import type { Tone } from "./banner.tsx";
import "./badge.css";

/** `dot` for what is so at this moment: online, running. */
export function Badge({ tone = "plain", dot = false, children }: { tone?: Tone | "accent"; dot?: boolean; children: ComponentChildren }) {
  return (
    <span class={`badge badge-${tone}`}>
      {dot && <span class="badge-dot" aria-hidden="true" />}
      {children}
    </span>
  );
}
