// What the gateway understands of words for a time, a moment after the last key.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, describeError, type Result } from "../state/call.ts";
import { TIMEZONE } from "./schedules.ts";

type Preview = Result<"sched.preview">;

const TYPING_MS = 250;

/** `isSentence`: the words say what to do as well. */
export function usePreview(sentence: string, isSentence: boolean): { preview: Preview | null; problem: string | null } {
  const [found, setFound] = useState<{ of: string; preview: Preview | null; problem: string | null } | null>(null);
  const wanted = useRef("");
  const words = sentence.trim();
  useEffect(() => {
    wanted.current = words;
    if (words === "") return setFound(null);
    const timer = setTimeout(() => {
      void call("sched.preview", { words, isSentence, timezone: TIMEZONE }).then(
        (preview) => wanted.current === words && setFound({ of: words, preview, problem: null }),
        (error: unknown) => wanted.current === words && setFound({ of: words, preview: null, problem: describeError(error) }),
      );
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [words]);
  // What was understood of other words must not be added.
  return found?.of === words ? found : { preview: null, problem: null };
}
