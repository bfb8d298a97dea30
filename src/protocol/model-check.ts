// The result of testing a model, as sys.setup.check and ai.check return it.

import { z } from "zod";

/** Which of the tested values is wrong; null if none of them is. */
export const CheckedField = z.enum(["provider", "model", "apiKey", "baseUrl"]);

export const ModelCheck = z.object({
  /** Whether a real answer arrived. */
  ok: z.boolean(),
  provider: z.string(),
  /** The provider's display name. */
  title: z.string(),
  /** The model that was tested: if none was named, one that the provider offers. Empty if there was none to test. */
  model: z.string(),
  /** The models that the provider lists; null if it cannot be asked. */
  models: z.array(z.string()).nullable(),
  /** From the request to the end of the answer. */
  ms: z.number().nullable(),
  /** The start of the answer. */
  said: z.string(),
  /** In plain words, with what to do. */
  problem: z.object({ field: CheckedField.nullable(), message: z.string() }).nullable(),
});

export type ModelCheck = z.infer<typeof ModelCheck>;
