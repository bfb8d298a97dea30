// One thing a doctor looked at: how it stands, in a sentence, and what to do next where something is to be done.

import { z } from "zod";

export const Check = z.object({
  id: z.string(),
  title: z.string(),
  state: z.enum(["ok", "warn", "fail"]),
  says: z.string(),
  next: z.string().nullable(),
});

export type Check = z.infer<typeof Check>;
