// Whether a model answers: the one a person has, or one they think of.

import { z } from "zod";
import { type AiSettings, aiSettings } from "../../agents/ai-settings.ts";
import type { Tried } from "../../setup/model-trials.ts";
import { isRoot } from "../../../protocol/caller.ts";
import { ModelCheck } from "../../../protocol/model-check.ts";
import { syscall } from "../define.ts";

const args = z.object({
  provider: z.string().trim().min(1).max(256).optional(),
  model: z.string().trim().max(256).optional(),
  apiKey: z.string().trim().max(4096).optional(),
  baseUrl: z.string().trim().max(2048).optional(),
});

export default syscall({
  name: "ai.check",
  doc: "Try a model: list what its provider has and ask one real, tiny question. What is not given is as the caller's settings have it; a key that is stored goes only to the provider and server it was stored for. Nothing that is tried is kept.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  args,
  result: z.object({ check: ModelCheck }),
  fails: { 400: "a value is not acceptable; the message names it", 429: "too many tries" },
  example: {
    args: { provider: "openai", apiKey: "sk-..." },
    result: {
      check: {
        ok: false,
        provider: "openai",
        title: "OpenAI",
        model: "",
        models: null,
        ms: null,
        said: "",
        problem: { field: "apiKey", message: "OpenAI refused this key. Copy it again in full, and check there that it is still active." },
      },
    },
  },
  async run({ config, throttle, trials, now, signal }, caller, asked) {
    throttle.spend("check", `user-${caller.uid}`, now);
    const tried = triedOf(asked, aiSettings(config, caller.uid).choice);
    // An agent of root's has been told things by others.
    const ownsMachine = isRoot(caller) && caller.agent === undefined;
    return { check: await trials.check(tried, ownsMachine, signal) };
  },
});

function triedOf({ provider, model, apiKey, baseUrl }: z.output<typeof args>, set: AiSettings["choice"]): Tried {
  const isSameProvider = provider === undefined || provider === set.provider;
  const where = baseUrl === undefined ? (isSameProvider ? set.baseUrl : null) : baseUrl || null;
  const isSamePlace = isSameProvider && where === set.baseUrl;
  return {
    provider: provider ?? set.provider,
    model: model ?? (isSamePlace ? set.model : ""),
    apiKey: apiKey ?? (isSamePlace ? set.apiKey : ""),
    baseUrl: where,
  };
}
