// What every step is given.

import type { Draft } from "./draft.ts";

export type StepProps = {
  /** What is wrong with a field, once somebody wanted to go on. */
  errorOf: (field: keyof Draft) => string | null;
};
