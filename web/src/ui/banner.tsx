// Words across the width of what they are about: how things stand, or what went wrong with what one just did.

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";
import "./banner.css";

export type Tone = "plain" | "good" | "warn" | "bad";

const ICON: Record<Tone, IconName> = { plain: "info", good: "check", warn: "warning", bad: "warning" };

/** What is bad is read out at once; the rest when there is a pause. */
export function Banner({ tone = "plain", children, actions }: { tone?: Tone; children: ComponentChildren; actions?: ComponentChildren }) {
  return (
    <div class={`banner banner-${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <Icon name={ICON[tone]} />
      <div class="banner-words">{children}</div>
      {actions}
    </div>
  );
}
