// Protects questions against accidental answers. The buttons of a question are inert for a moment after it appears, and then react
// only to a press that started on them after that. So neither typed-ahead keys, nor a key still held, nor a click aimed at what
// was there before can answer.

import { useEffect, useMemo, useState } from "preact/hooks";

export const INERT_MS = 600;

export type FreshPress = {
  /** False during the inert period. */
  isReady: boolean;
  /** For the element that contains the buttons. */
  pressHandlers: { onPointerDown(event: Event): void; onMouseDown(event: Event): void; onKeyDown(event: KeyboardEvent): void };
  /** Makes a click handler that calls `run` only after a fresh press on the button. */
  guard(run: () => void): (event: MouseEvent) => void;
  /** Whether a key was pressed, once, alone and by a person, after the inert period. */
  isFreshKey(event: KeyboardEvent): boolean;
};

export function useFreshPress(): FreshPress {
  const [isReady, setReady] = useState(false);
  const state = useMemo(() => ({ readyAt: Number.POSITIVE_INFINITY, on: null as Element | null }), []);
  useEffect(() => {
    const startInertPeriod = () => {
      // The inert period starts when the page is visible: before that, nobody has seen the question.
      if (document.visibilityState !== "visible") return;
      state.readyAt = performance.now() + INERT_MS;
      timer = setTimeout(() => setReady(true), INERT_MS);
      document.removeEventListener("visibilitychange", startInertPeriod);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    document.addEventListener("visibilitychange", startInertPeriod);
    startInertPeriod();
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", startInertPeriod);
    };
  }, []);
  const recordPress = (event: Event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    state.on = performance.now() >= state.readyAt ? button : null;
  };
  return {
    isReady,
    pressHandlers: {
      onPointerDown: recordPress,
      onMouseDown: recordPress,
      onKeyDown: (event) => {
        // A repeated keydown comes from a held key: only its first keydown counts, wherever that was.
        if (!event.repeat) recordPress(event);
      },
    },
    guard: (run) => (event) => {
      const isFresh = event.isTrusted && state.on !== null && state.on === event.currentTarget;
      state.on = null;
      if (isFresh) run();
    },
    isFreshKey: ({ isTrusted, repeat, ctrlKey, metaKey, altKey }) =>
      isTrusted && !repeat && !ctrlKey && !metaKey && !altKey && performance.now() >= state.readyAt,
  };
}
