// Everything one can do, wherever one is: what the palette offers, what keys do, what the help shows. The frame registers
// its own for good, a screen its own for as long as it is there.

import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export type Action = {
  id: string;
  /** A plain sentence without a period: "Open settings". */
  title: string;
  /** What it belongs to, in the palette and in the help: "Go to", "Chat". */
  group: string;
  /** As keys.ts reads them: "mod+k", "g c", "?". */
  keys?: string;
  /** Further words by which somebody may look for it. */
  words?: string;
  run(): void;
};

const registered = signal<readonly (readonly Action[])[]>([]);

/** Later ones first: a screen's own come before those of the frame, and its keys win. */
export const actions = computed<readonly Action[]>(() => registered.value.toReversed().flat());

/** Returns the way to take them back. */
export function register(added: readonly Action[]): () => void {
  registered.value = [...registered.peek(), added];
  return () => {
    registered.value = registered.peek().filter((one) => one !== added);
  };
}

/** For screens: registered while the component is there, anew when something in `inputs` changes. */
export function useActions(make: () => readonly Action[], inputs: readonly unknown[]): void {
  useEffect(() => register(make()), inputs);
}
