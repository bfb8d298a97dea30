// Settings that apply as soon as they are chosen: the choice shows at once, and is taken back with the reason if the gateway refuses it.

import { useRef, useState } from "preact/hooks";
import { describeError } from "./call.ts";

export type Choosing<T> = { value: T; choose: (change: Partial<T>) => void; problem: string | null };

/** `current` is what the gateway has; `store` tells it of a change, and resolves once `current` has it. */
export function useChoice<T extends object>(current: T, store: (change: Partial<T>) => Promise<unknown>): Choosing<T> {
  const [chosen, setChosen] = useState<Partial<T>>({});
  const [problem, setProblem] = useState<string | null>(null);
  /** Changes reach the gateway in the order in which they were made. */
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const choose = (change: Partial<T>) => {
    setProblem(null);
    setChosen((before) => ({ ...before, ...change }));
    const isStill = (before: Partial<T>) => (Object.keys(change) as (keyof T)[]).every((name) => before[name] === change[name]);
    const without = (before: Partial<T>): Partial<T> =>
      Object.fromEntries(Object.entries(before).filter(([name]) => !(name in change))) as Partial<T>;
    last.current = last.current
      .then(() => store(change))
      .catch((error: unknown) => setProblem(describeError(error)))
      // Unless it was chosen anew meanwhile.
      .then(() => setChosen((before) => (isStill(before) ? without(before) : before)));
  };
  return { value: { ...current, ...chosen }, choose, problem };
}
