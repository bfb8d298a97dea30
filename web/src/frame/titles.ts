// What screens put into the title bar of their pane: a title, such as the name of a conversation or a machine, and buttons.

import { type Signal, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useContext, useEffect } from "preact/hooks";
import { PaneContext } from "./pane-context.ts";
import type { PaneName } from "./route.ts";

type ByPane<T> = Partial<Record<PaneName, T>>;

export const titles = signal<ByPane<string>>({});
export const paneActions = signal<ByPane<ComponentChildren>>({});

/** For screens: sets the title of the pane while mounted; null means the name of the screen. */
export function usePaneTitle(title: string | null): void {
  usePaneSlot(titles, title);
}

/** For screens: shows `actions` after the title while mounted. They must stay the same object as long as they show the same. */
export function usePaneActions(actions: ComponentChildren): void {
  usePaneSlot(paneActions, actions);
}

function usePaneSlot<T>(slot: Signal<ByPane<T>>, content: T | null): void {
  const pane = useContext(PaneContext);
  useEffect(() => {
    if (pane === null || content === null) return;
    slot.value = { ...slot.peek(), [pane]: content };
    return () => {
      // The next screen may have set its own before this one is gone.
      if (slot.peek()[pane] !== content) return;
      const { [pane]: _gone, ...others } = slot.peek();
      slot.value = others;
    };
  }, [pane, content]);
}
