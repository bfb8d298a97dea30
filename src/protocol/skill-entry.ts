// A skill in a list. Its text is a file, which is read when the skill is needed.

import { z } from "zod";

export const SkillEntry = z.object({
  /** The name, with the kind of its source before it where several skills have that name. */
  id: z.string(),
  name: z.string(),
  description: z.string(),
  source: z.object({ kind: z.enum(["profile", "home", "workspace", "package"]), label: z.string(), writable: z.boolean() }),
});
export type SkillEntry = z.infer<typeof SkillEntry>;
