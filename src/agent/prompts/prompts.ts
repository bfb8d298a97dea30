// The prompts and skills as default configuration; keys that root has set take precedence.

import gsv from "./00-gsv.ts";
import runtime from "./10-runtime.ts";
import discovery from "./20-discovery.ts";
import { roles } from "./roles.ts";
import { skillDefaults } from "./skills/skills.ts";

export const promptDefaults: ReadonlyMap<string, string> = new Map([
  ["config/ai/context.d/00-gsv.md", gsv],
  ["config/ai/context.d/10-runtime.md", runtime],
  ["config/ai/context.d/20-discovery.md", discovery],
  ...Object.entries(roles).map(([profile, text]): [string, string] => [`config/ai/profile/${profile}/context.d/00-role.md`, text]),
  ...skillDefaults,
]);
