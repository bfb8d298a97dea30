// Tells a key that is pressed to answer from one of a word that is typed on the page by mistake. A key counts only if it is pressed
// alone: nothing was pressed for a second before it, in which the question was in view, and nothing is pressed shortly after it.

import { useEffect, useMemo, useState } from "preact/hooks";

const QUIET_MS = 1_000;
const ALONE_MS = 400;
const MODIFIERS: ReadonlySet<string> = new Set(["Control", "Shift", "Alt", "AltGraph", "Meta"]);

export type LonePress = {
  /** Whether a key that is pressed now may count. */
  isQuiet: boolean;
  /** For a key that was pressed just now: calls `run` if it turns out to be alone. */
  runIfAlone: (run: () => void) => void;
};

/** `isOn` is false while the question cannot be answered by key, such as while part of it is out of view. */
export function useLonePress(isOn: boolean): LonePress {
  const [isQuiet, setQuiet] = useState(false);
  const state = useMemo(() => ({ isQuiet: false, wasQuiet: false, answer: undefined as ReturnType<typeof setTimeout> | undefined }), []);
  useEffect(() => {
    if (!isOn) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const change = (quiet: boolean) => {
      state.isQuiet = quiet;
      setQuiet(quiet);
    };
    const startWaiting = () => {
      change(false);
      clearTimeout(timer);
      timer = setTimeout(() => change(true), QUIET_MS);
    };
    // Before the handlers of actions, which ask whether this press counts.
    const handleKeydown = ({ key, repeat }: KeyboardEvent) => {
      if (MODIFIERS.has(key)) return;
      if (!repeat) clearTimeout(state.answer);
      state.wasQuiet = state.isQuiet;
      startWaiting();
    };
    startWaiting();
    addEventListener("keydown", handleKeydown, true);
    // Somebody who comes back may still be typing what was meant for another window.
    addEventListener("focus", startWaiting);
    return () => {
      removeEventListener("keydown", handleKeydown, true);
      removeEventListener("focus", startWaiting);
      clearTimeout(timer);
      clearTimeout(state.answer);
      change(false);
    };
  }, [isOn]);
  return {
    isQuiet,
    runIfAlone: (run) => {
      if (state.wasQuiet) state.answer = setTimeout(run, ALONE_MS);
    },
  };
}
