// The draft that a person fills in before a gateway has its first user, and what a guide may propose to change in it.

import { z } from "zod";

const text = z.string().max(256);
const secret = z.string().max(4096);

export const Lane = z.enum(["quick", "customize", "advanced"]);

export const OnboardingDraft = z.object({
  lane: Lane,
  mode: z.enum(["manual", "guided"]),
  stage: z.enum(["welcome", "details", "review"]),
  detailStep: z.enum(["account", "admin", "system", "ai", "source", "device"]),
  account: z.object({ username: text, password: secret, passwordConfirm: secret }),
  admin: z.object({ mode: z.enum(["same", "custom"]), password: secret }),
  system: z.object({ timezone: text }),
  ai: z.object({ enabled: z.boolean(), provider: text, model: text, apiKey: secret }),
  source: z.object({ enabled: z.boolean(), value: text, ref: text }),
  device: z.object({ enabled: z.boolean(), deviceId: text, label: text, expiryDays: text }),
});

export type OnboardingDraft = z.infer<typeof OnboardingDraft>;

/** The fields that a guide may change; only the person changes the others. */
export const PatchPath = z.enum([
  "account.username",
  "admin.mode",
  "system.timezone",
  "ai.enabled",
  "ai.provider",
  "ai.model",
  "ai.baseUrl",
  "source.enabled",
  "source.value",
  "source.ref",
  "device.enabled",
  "device.deviceId",
  "device.label",
  "device.expiryDays",
]);

export const OnboardingAssistPatch = z.object({
  op: z.enum(["set", "clear"]),
  path: PatchPath,
  value: z.union([z.string().max(256), z.boolean()]).optional(),
});

export type OnboardingAssistPatch = z.infer<typeof OnboardingAssistPatch>;

export const GuideMessage = z.object({ role: z.enum(["user", "assistant"]), content: z.string().max(4_000) });

export type GuideMessage = z.infer<typeof GuideMessage>;
