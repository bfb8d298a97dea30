// Makes the other pane active and focuses it.

import { activePane, address, activatePane } from "./route.ts";

export function focusOtherPane(): void {
  if (address.peek().beside === null) return;
  const other = activePane.peek() === "main" ? "beside" : "main";
  activatePane(other);
  // On a narrow screen the pane is hidden until the next frame, and hidden elements cannot take the focus.
  requestAnimationFrame(() => document.getElementById(`pane-${other}-title`)?.focus());
}
