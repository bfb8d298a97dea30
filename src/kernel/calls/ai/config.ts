// Shows a process its own model and context settings.

import { z } from "zod";
import { SkillEntry } from "../../../protocol/skill-entry.ts";
import { DEFAULT_PROFILE } from "../../agents/profiles.ts";
import { syscall } from "../define.ts";

const ContextFile = z.object({ name: z.string(), text: z.string() });
/** A system profile, or package#profile. */
const PROFILE = /^[\w.@:-]+(?:#[\w.-]+)?$/;

export default syscall({
  name: "ai.config",
  doc: "Read the calling process's model and context settings: its user's own settings take precedence over the system's. The model's key is never shown; hasKey says whether there is one.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  only: "processes",
  grant: ["users"],
  args: z.object({
    profile: z.string().max(200).regex(PROFILE, { error: "profile must be the name of a profile, such as task" }).optional(),
  }),
  result: z.object({
    profile: z.string(),
    provider: z.string(),
    model: z.string(),
    apiKey: z.literal(""),
    hasKey: z.boolean(),
    reasoning: z.string(),
    maxTokens: z.number(),
    contextWindowTokens: z.number().nullable(),
    contextWindowSource: z.enum(["model", "config", "unknown"]),
    systemContextFiles: z.array(ContextFile),
    profileContextFiles: z.array(ContextFile),
    skillIndex: z.array(SkillEntry),
    profileApprovalPolicy: z.string().nullable(),
    maxContextBytes: z.number(),
    /** Settings that are not used, and why. */
    problems: z.array(z.string()),
  }),
  fails: { 400: "the profile is not a valid name", 403: "the caller is not a process" },
  example: {
    args: { profile: "task" },
    result: {
      profile: "task",
      provider: "anthropic",
      model: "claude-opus-5-5",
      apiKey: "",
      hasKey: true,
      reasoning: "off",
      maxTokens: 8192,
      contextWindowTokens: 1_000_000,
      contextWindowSource: "model",
      systemContextFiles: [{ name: "00-gsv.md", text: "You are an agent on GSV." }],
      profileContextFiles: [{ name: "00-role.md", text: "You do one task." }],
      skillIndex: [{ id: "bake", name: "bake", description: "bake bread", source: { kind: "home", label: "~/skills.d", writable: true } }],
      profileApprovalPolicy: null,
      maxContextBytes: 32_768,
      problems: [],
    },
  },
  run({ ai }, caller, { profile }) {
    return ai.readConfig(caller, profile ?? DEFAULT_PROFILE);
  },
});
