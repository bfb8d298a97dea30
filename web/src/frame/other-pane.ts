// From one pane to the other, with the focus.

import { activePane, address, touchPane } from "./route.ts";

export function otherPane(): void {
  if (address.peek().beside === null) return;
  const other = activePane.peek() === "main" ? "beside" : "main";
  touchPane(other);
  // On a narrow screen it is only now shown, and what is not cannot have the focus.
  requestAnimationFrame(() => document.getElementById(`pane-${other}-title`)?.focus());
}
