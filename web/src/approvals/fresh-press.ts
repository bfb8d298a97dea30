// A yes that somebody meant: buttons of a question do nothing in the first moments after it appeared, and then only by a
// press that began on them after that. So nothing typed ahead, no key that is still held and no click that was on its way to
// what stood there before can answer.

import { useEffect, useMemo, useState } from "preact/hooks";

export const INERT_MS = 600;

export type FreshPress = {
  /** False in the first moments. */
  isReady: boolean;
  /** For the element around the buttons. */
  watch: { onPointerDown(event: Event): void; onMouseDown(event: Event): void; onKeyDown(event: KeyboardEvent): void };
  /** For a button's click: does it only where the press was fresh. */
  pressed(run: () => void): (event: MouseEvent) => void;
};

export function useFreshPress(): FreshPress {
  const [isReady, setReady] = useState(false);
  const state = useMemo(() => ({ readyAt: Number.POSITIVE_INFINITY, on: null as Element | null }), []);
  useEffect(() => {
    const begin = () => {
      // In a page that nobody sees, no time passes for whoever is to decide.
      if (document.visibilityState !== "visible") return;
      state.readyAt = performance.now() + INERT_MS;
      timer = setTimeout(() => setReady(true), INERT_MS);
      document.removeEventListener("visibilitychange", begin);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    document.addEventListener("visibilitychange", begin);
    begin();
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", begin);
    };
  }, []);
  const down = (event: Event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    state.on = performance.now() >= state.readyAt ? button : null;
  };
  return {
    isReady,
    watch: {
      onPointerDown: down,
      onMouseDown: down,
      onKeyDown: (event) => {
        // A key that repeats was held; the press it began with counts, wherever that was.
        if (!event.repeat) down(event);
      },
    },
    pressed: (run) => (event) => {
      const isFresh = event.isTrusted && state.on !== null && state.on === event.currentTarget;
      state.on = null;
      if (isFresh) run();
    },
  };
}
