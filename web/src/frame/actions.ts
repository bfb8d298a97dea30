// The registry of user actions: the palette lists them, keys run them, the keyboard help shows them. The frame's actions are
// always registered, a screen's while it is mounted. Those of a screen act only while its pane is the active one.

import { computed, signal } from "@preact/signals";
import { useContext, useEffect } from "preact/hooks";
import { PaneContext } from "./pane-context.ts";
import { activePane, type PaneName } from "./route.ts";

export type Action = {
  id: string;
  /** Without a period: "Open settings". */
  title: string;
  /** Heading in the palette and the keyboard help: "Go to", "Chat". */
  group: string;
  /** In the notation of keyboard.ts: "mod+k", "g c", "?". */
  keys?: string;
  /** Further search words. */
  words?: string;
  /** `event` is the press of its keys; there is none if it was chosen from a list. */
  run(event?: KeyboardEvent): void;
};

/** `pane` is null for actions of the frame. */
type Registration = { pane: PaneName | null; added: readonly Action[] };

const registered = signal<readonly Registration[]>([]);

/** Later registrations first: the keys of a screen take precedence over those of the frame. */
export const actions = computed<readonly Action[]>(() =>
  registered.value
    .flatMap(({ pane, added }) => (pane === null || pane === activePane.value ? [added] : []))
    .toReversed()
    .flat(),
);

/** Returns a function that unregisters them. */
export function registerActions(added: readonly Action[], pane: PaneName | null = null): () => void {
  const registration = { pane, added };
  registered.value = [...registered.peek(), registration];
  return () => {
    registered.value = registered.peek().filter((one) => one !== registration);
  };
}

/** For screens: registers actions while the component is mounted, and again when something in `inputs` changes. */
export function useActions(makeActions: () => readonly Action[], inputs: readonly unknown[]): void {
  const pane = useContext(PaneContext);
  useEffect(() => registerActions(makeActions(), pane), [pane, ...inputs]);
}
