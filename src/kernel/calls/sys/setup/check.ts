// Checks whether set-up can continue: the code, and the AI provider that the person considers.

import { z } from "zod";
import { readAiSettings } from "../../../agents/ai-settings.ts";
import { checkMaySetUp } from "../../../setup/setup-access.ts";
import { findProvider } from "../../../../models/providers.ts";
import { ModelCheck } from "../../../../protocol/model-check.ts";
import { strangerSyscall } from "../../define.ts";

const NOBODY = 0;

export default strangerSyscall({
  name: "sys.setup.check",
  doc: "Test the values of set-up before anything is set: the code and, if `ai` is given, the provider it names, by listing its models and asking one real, tiny question. Nothing is stored. Without `ai` it says which model answers if none is chosen.",
  runs: "kernel",
  does: "effect",
  from: ["stranger"],
  when: "setup",
  grant: [],
  args: z.object({
    code: z.string().max(256).optional(),
    ai: z
      .object({
        provider: z.string().trim().min(1).max(256),
        model: z.string().trim().max(256).optional(),
        apiKey: z.string().trim().max(4096).optional(),
        baseUrl: z.string().trim().max(2048).optional(),
      })
      .optional(),
  }),
  result: z.object({
    /** The model that is used if set-up names none; "demo" is no AI. */
    own: z.object({ provider: z.string(), title: z.string(), model: z.string() }),
    ai: ModelCheck.nullable(),
  }),
  fails: {
    400: "a value is not valid; the message names it",
    403: "the one-time code is missing or wrong",
    409: "the gateway already has a user",
    429: "too many wrong codes, or too many tests",
  },
  example: {
    args: { ai: { provider: "ollama" } },
    result: {
      own: { provider: "demo", title: "The demo model", model: "demo" },
      ai: {
        ok: true,
        provider: "ollama",
        title: "Ollama",
        model: "qwen3",
        models: ["qwen3"],
        ms: 640,
        said: "ready",
        problem: null,
      },
    },
  },
  async run(context, stranger, { code, ai }) {
    checkMaySetUp(context, code, stranger.address);
    const { provider, model } = readAiSettings(context.config, NOBODY).choice;
    const own = { provider, model, title: findProvider(provider)?.title ?? "The demo model" };
    if (ai === undefined) return { own, ai: null };
    context.throttle.countOperation("check", stranger.address, context.now);
    const tried = { provider: ai.provider, model: ai.model ?? "", apiKey: ai.apiKey ?? "", baseUrl: ai.baseUrl || null };
    // The person who sets the gateway up owns its machine, and could set any address in its configuration.
    return { own, ai: await context.trials.check(tried, true, context.signal) };
  },
});
