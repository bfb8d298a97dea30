// Pane titles that screens set, such as the name of a conversation or a machine.

import { signal } from "@preact/signals";
import { useContext, useEffect } from "preact/hooks";
import { PaneContext } from "./pane-context.ts";
import type { PaneName } from "./route.ts";

export const titles = signal<Partial<Record<PaneName, string>>>({});

/** For screens: sets the title of the pane while mounted; null means the name of the screen. */
export function usePaneTitle(title: string | null): void {
  const pane = useContext(PaneContext);
  useEffect(() => {
    if (pane === null || title === null) return;
    titles.value = { ...titles.peek(), [pane]: title };
    return () => {
      // The next screen may have set its own before this one is gone.
      if (titles.peek()[pane] !== title) return;
      const { [pane]: _gone, ...others } = titles.peek();
      titles.value = others;
    };
  }, [pane, title]);
}
