// State of one user action: whether it runs, why it failed, and a guard against starting it twice.

import { useState } from "preact/hooks";
import { describeError } from "./call.ts";

export type Operation = {
  isBusy: boolean;
  /** Why the last run failed, until the next one starts. */
  problem: string | null;
  /** Resolves to whether it succeeded. Does nothing while another run is active. */
  run: (work: () => Promise<unknown>) => Promise<boolean>;
};

export function useOperation(): Operation {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const run = async (work: () => Promise<unknown>) => {
    if (isBusy) return false;
    setBusy(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(describeError(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run };
}
