// A label for a state. The colour only repeats what the text says.

import type { ComponentChildren } from "preact";
import type { Tone } from "./banner.tsx";
import "./badge.css";

/** `dot` marks a live state: online, running. */
export function Badge({ tone = "plain", dot = false, children }: { tone?: Tone | "accent"; dot?: boolean; children: ComponentChildren }) {
  return (
    <span class={`badge badge-${tone}`}>
      {dot && <span class="badge-dot" aria-hidden="true" />}
      {children}
    </span>
  );
}
