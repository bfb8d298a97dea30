// What a try at a model came to, as sys.setup.check and ai.check answer it.

import { z } from "zod";

/** Which of the values that were tried is the one to mend; null where none of them is. */
export const CheckedField = z.enum(["provider", "model", "apiKey", "baseUrl"]);

export const ModelCheck = z.object({
  /** A real answer came. */
  ok: z.boolean(),
  provider: z.string(),
  /** The provider as people know it. */
  title: z.string(),
  /** The one that was tried: where none was named, one of those it has. Empty where there was none to try. */
  model: z.string(),
  /** What it says it has; null where it cannot be asked. */
  models: z.array(z.string()).nullable(),
  /** From the question to the end of the answer. */
  ms: z.number().nullable(),
  /** The beginning of what it answered. */
  said: z.string(),
  /** In plain words, with what to do. */
  problem: z.object({ field: CheckedField.nullable(), message: z.string() }).nullable(),
});

export type ModelCheck = z.infer<typeof ModelCheck>;
