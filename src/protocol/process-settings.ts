// Settings of a process or of one of its conversations: which model answers and how, what it is told in addition, and how often a
// person is asked. proc.settings.* and proc.send share these records.

import { z } from "zod";

/** Of a prompt, in UTF-8. */
export const PROMPT_BYTES_MAX = 16 * 1024;
const TOKENS_MAX = 1_000_000;

export const ModelRef = z.object({ provider: z.string().trim().min(1).max(256), model: z.string().trim().min(1).max(256) });
export type ModelRef = z.infer<typeof ModelRef>;

export const Thinking = z.enum(["off", "minimal", "low", "medium", "high", "xhigh"]);
export type Thinking = z.infer<typeof Thinking>;

/** How often a person is asked: before every action, as the policy says, or only before what could do harm. */
export const Posture = z.enum(["ask", "careful", "trusted"]);
export type Posture = z.infer<typeof Posture>;

export const Prompt = z
  .string()
  .trim()
  .refine((text) => new TextEncoder().encode(text).length <= PROMPT_BYTES_MAX, {
    error: `prompt may have at most ${PROMPT_BYTES_MAX} bytes`,
  });

export const MaxTokens = z.int().min(1).max(TOKENS_MAX);

/** What can be set for one message too. */
export const RunSettings = z.object({
  model: ModelRef.optional(),
  thinking: Thinking.optional(),
  prompt: Prompt.optional(),
  maxTokens: MaxTokens.optional(),
});
export type RunSettings = z.infer<typeof RunSettings>;

/** What is set at one level; null for what is not. */
export const ProcessSettings = z.object({
  model: ModelRef.nullable(),
  thinking: Thinking.nullable(),
  prompt: z.string().nullable(),
  maxTokens: z.int().nullable(),
  posture: Posture.nullable(),
  /** When `trusted` ends. */
  postureEndsAt: z.number().nullable(),
});
export type ProcessSettings = z.infer<typeof ProcessSettings>;

/** What the next run uses. `parent`: the conversation that started the process asks before every action. */
export const EffectiveSettings = z.object({
  provider: z.string(),
  model: z.string(),
  thinking: Thinking,
  maxTokens: z.int(),
  hasPrompt: z.boolean(),
  posture: Posture,
  postureEndsAt: z.number().nullable(),
  modelFrom: z.enum(["conversation", "process", "user", "gateway"]),
  postureFrom: z.enum(["conversation", "process", "parent", "default"]),
});
export type EffectiveSettings = z.infer<typeof EffectiveSettings>;

/** The result of proc.settings.get and proc.settings.set. */
export const SettingsResult = z.object({
  ok: z.literal(true),
  pid: z.string(),
  conversationId: z.string().nullable(),
  settings: ProcessSettings,
  effective: EffectiveSettings,
});
export type SettingsResult = z.infer<typeof SettingsResult>;

export const SETTINGS_EXAMPLE: SettingsResult = {
  ok: true,
  pid: "init:1000",
  conversationId: null,
  settings: {
    model: { provider: "anthropic", model: "claude-haiku-4-5" },
    thinking: null,
    prompt: null,
    maxTokens: null,
    posture: "trusted",
    postureEndsAt: 1763286400000,
  },
  effective: {
    provider: "anthropic",
    model: "claude-haiku-4-5",
    thinking: "off",
    maxTokens: 8192,
    hasPrompt: false,
    posture: "trusted",
    postureEndsAt: 1763286400000,
    modelFrom: "process",
    postureFrom: "process",
  },
};
