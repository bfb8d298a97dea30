// Something a person set going: that it is under way, why it failed, and that it is not begun twice.

import { useState } from "preact/hooks";
import { sentence } from "./call.ts";

export type Doing = {
  busy: boolean;
  /** A sentence, until it is begun again. */
  problem: string | null;
  /** True if it was done. While one is under way another is not begun. */
  run: (work: () => Promise<unknown>) => Promise<boolean>;
};

export function useDoing(): Doing {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const run = async (work: () => Promise<unknown>) => {
    if (busy) return false;
    setBusy(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(sentence(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, run };
}
