// Settings that apply as soon as they are chosen: the choice shows at once, and is taken back with the reason if the gateway refuses it.

import { useRef, useState } from "preact/hooks";
import { describeError } from "./call.ts";

export type Choosing<T> = { value: T; choose: (change: Partial<T>) => void; problem: string | null };

/** `current` is what the gateway has; `store` tells it of a change. */
export function useChoice<T extends object>(current: T, store: (change: Partial<T>) => Promise<unknown>): Choosing<T> {
  const [chosen, setChosen] = useState<Partial<T>>({});
  const [problem, setProblem] = useState<string | null>(null);
  /** Changes reach the gateway in the order in which they were made. */
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const choose = (change: Partial<T>) => {
    setChosen((before) => ({ ...before, ...change }));
    last.current = last.current
      .then(() => store(change))
      .then(
        () => setProblem(null),
        (error: unknown) => {
          setChosen({});
          setProblem(describeError(error));
        },
      );
  };
  return { value: { ...current, ...chosen }, choose, problem };
}
