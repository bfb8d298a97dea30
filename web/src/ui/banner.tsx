// A message across the width of its container: a status, or why the last action failed.

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";
import "./banner.css";

export type Tone = "plain" | "good" | "warn" | "bad";

const ICON: Record<Tone, IconName> = { plain: "info", good: "check", warn: "warning", bad: "warning" };

/** Screen readers announce "bad" at once, the other tones in a pause. */
export function Banner({ tone = "plain", children, actions }: { tone?: Tone; children: ComponentChildren; actions?: ComponentChildren }) {
  return (
    <div class={`banner banner-${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <Icon name={ICON[tone]} />
      <div class="banner-words">{children}</div>
      {actions}
    </div>
  );
}
