// Tests whether a model answers: the caller's own, or one that they consider.

import { z } from "zod";
import { type AiSettings, readAiSettings } from "../../agents/ai-settings.ts";
import type { ModelCandidate } from "../../setup/model-trials.ts";
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
  doc: "Test a model: list the models of its provider and ask one real, tiny question. Omitted values come from the caller's settings; a stored key is sent only to the provider and server it was stored for. Nothing is stored.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  args,
  result: z.object({ check: ModelCheck }),
  fails: { 400: "a value is not valid; the message names it", 429: "too many tests" },
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
  async run({ config, throttle, trials, now, signal }, caller, request) {
    throttle.countOperation("check", `user-${caller.uid}`, now);
    const tried = fillInCandidate(request, readAiSettings(config, caller.uid).choice);
    // Not for root's agents: their context may come from other people.
    const ownsMachine = isRoot(caller) && caller.agent === undefined;
    return { check: await trials.check(tried, ownsMachine, signal) };
  },
});

/** Fills in the caller's settings. A stored key is used only for the provider and server that it was stored for. */
function fillInCandidate({ provider, model, apiKey, baseUrl }: z.output<typeof args>, current: AiSettings["choice"]): ModelCandidate {
  const isSameProvider = provider === undefined || provider === current.provider;
  const server = baseUrl === undefined ? (isSameProvider ? current.baseUrl : null) : baseUrl || null;
  const isSameServer = isSameProvider && server === current.baseUrl;
  return {
    provider: provider ?? current.provider,
    model: model ?? (isSameServer ? current.model : ""),
    apiKey: apiKey ?? (isSameServer ? current.apiKey : ""),
    baseUrl: server,
  };
}
