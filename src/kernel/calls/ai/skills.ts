// Lists the skills of a process, for people who read and edit them and for the command skills.

import { z } from "zod";
import { OfProcess } from "../../../protocol/proc-records.ts";
import { SkillEntry } from "../../../protocol/skill-entry.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "ai.skills",
  doc: "List the skills a process can use: those of its profile, its user's home and its workspace. Without a pid it is the calling process; for a person, their home process without a workspace. path is the file of the skill, or the directory that contains its SKILL.md.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  atOnce: 4,
  args: z.object(OfProcess),
  result: z.object({ skills: z.array(SkillEntry.extend({ path: z.string() })) }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: {
      skills: [
        {
          id: "bake",
          name: "bake",
          description: "bake bread",
          path: "/home/alice/skills.d/bake.md",
          source: { kind: "home", label: "~/skills.d", writable: true },
        },
      ],
    },
  },
  async run({ agents }, caller, { pid }) {
    return { skills: await agents.listSkills(caller, pid) };
  },
});
