// The props of every step.

import type { Draft } from "./draft.ts";

export type StepProps = {
  /** The error of a field, once the user has tried to continue. */
  errorOf: (field: keyof Draft) => string | null;
};
