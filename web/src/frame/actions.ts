// The registry of user actions: the palette lists them, keys run them, the keyboard help shows them. The frame's actions are
// always registered, a screen's while it is mounted.

import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

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

const registered = signal<readonly (readonly Action[])[]>([]);

/** Later registrations first: the keys of a screen take precedence over those of the frame. */
export const actions = computed<readonly Action[]>(() => registered.value.toReversed().flat());

/** Returns a function that unregisters them. */
export function registerActions(added: readonly Action[]): () => void {
  registered.value = [...registered.peek(), added];
  return () => {
    registered.value = registered.peek().filter((one) => one !== added);
  };
}

/** For screens: registers actions while the component is mounted, and again when something in `inputs` changes. */
export function useActions(makeActions: () => readonly Action[], inputs: readonly unknown[]): void {
  useEffect(() => registerActions(makeActions()), inputs);
}
