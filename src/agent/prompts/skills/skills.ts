// The skills that come with the gateway, as default configuration of the profiles that they are for: they change with its version, and
// root can replace or empty each. test/skills checks that the commands and calls they name exist.

import operatingGsv from "./operating-gsv.ts";
import rememberingThings from "./remembering-things.ts";
import reviewingCode from "./reviewing-code.ts";
import workingOnDevices from "./working-on-devices.ts";
import writingSkills from "./writing-skills.ts";

export const SHIPPED_SKILLS = {
  "operating-gsv": operatingGsv,
  "remembering-things": rememberingThings,
  "reviewing-code": reviewingCode,
  "working-on-devices": workingOnDevices,
  "writing-skills": writingSkills,
} as const;

type SkillName = keyof typeof SHIPPED_SKILLS;

const ALL = Object.keys(SHIPPED_SKILLS) as SkillName[];

const SKILLS_OF: Readonly<Record<string, readonly SkillName[]>> = {
  init: ALL,
  task: ALL,
  review: ["reviewing-code", "working-on-devices"],
  mcp: ["operating-gsv", "writing-skills"],
  cron: ["remembering-things", "working-on-devices"],
};

/** Keys and values of the default configuration. */
export const skillDefaults: readonly (readonly [key: string, text: string])[] = Object.entries(SKILLS_OF).flatMap(([profile, names]) =>
  names.map((name) => [`config/ai/profile/${profile}/skills.d/${name}.md`, SHIPPED_SKILLS[name]] as const),
);
