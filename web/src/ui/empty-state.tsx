// Placeholder for an empty list: what would be here, and how to add the first one.

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";
import "./empty-state.css";

export function EmptyState({ icon, title, text, children }: { icon: IconName; title: string; text: string; children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <span class="empty-state-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      <p class="soft">{text}</p>
      {children !== undefined && <div class="empty-state-more">{children}</div>}
    </div>
  );
}
