// One check of the doctor: its state, a sentence about it, and what to do next if anything.

import { z } from "zod";

export const Check = z.object({
  id: z.string(),
  title: z.string(),
  state: z.enum(["ok", "warn", "fail"]),
  says: z.string(),
  next: z.string().nullable(),
});

export type Check = z.infer<typeof Check>;
