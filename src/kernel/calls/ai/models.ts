// Which models the caller can choose.

import { z } from "zod";
import { readAiSettings } from "../../agents/ai-settings.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "ai.models",
  doc: "List the models that the caller can choose for a process, a conversation or a message: those that the servers of their main and their fallback model list, and these two. A list is kept for a minute. A server that does not answer is a problem in words, not an error.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  atOnce: 2,
  args: z.object({}),
  result: z.object({
    models: z.array(
      z.object({
        provider: z.string(),
        title: z.string(),
        model: z.string(),
        /** The one that answers where nothing else is chosen. */
        isDefault: z.boolean(),
      }),
    ),
    problem: z.string().nullable(),
  }),
  fails: { 429: "too many lists" },
  example: {
    args: {},
    result: {
      models: [
        { provider: "anthropic", title: "Anthropic", model: "claude-haiku-4-5", isDefault: false },
        { provider: "anthropic", title: "Anthropic", model: "claude-opus-5-5", isDefault: true },
      ],
      problem: null,
    },
  },
  run({ config, throttle, trials, now }, caller) {
    const { uid } = caller;
    const admit = () => throttle.countOperation("check", `user-${uid}`, now);
    return trials.listModels({ uid, generation: config.generationOf(uid), ...readAiSettings(config, uid) }, admit);
  },
});
