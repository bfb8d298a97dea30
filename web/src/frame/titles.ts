// A screen may say more exactly what it shows than its name does: the conversation, the machine.

import { signal } from "@preact/signals";
import { useContext, useEffect } from "preact/hooks";
import { PaneContext } from "./pane-context.ts";
import type { PaneName } from "./route.ts";

export const titles = signal<Partial<Record<PaneName, string>>>({});

/** For screens: the title of the pane while the screen is there; null for its own name. */
export function useTitle(title: string | null): void {
  const pane = useContext(PaneContext);
  useEffect(() => {
    if (pane === null || title === null) return;
    titles.value = { ...titles.peek(), [pane]: title };
    return () => {
      const { [pane]: _gone, ...others } = titles.peek();
      titles.value = others;
    };
  }, [pane, title]);
}
