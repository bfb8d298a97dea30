// Changes settings of a process or a conversation.

import { z } from "zod";
import { OfConversation } from "../../../../protocol/proc-records.ts";
import { MaxTokens, ModelRef, Posture, Prompt, SETTINGS_EXAMPLE, SettingsResult, Thinking } from "../../../../protocol/process-settings.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.settings.set",
  doc: "Change the settings of a conversation, or of a process if no conversation is named: which model of the user's own servers answers, how long it thinks, what it is told in addition, and how many tokens an answer may have. What is missing stays; null clears. The next run uses them. posture says how often a person is asked, from the next call on: ask (before every action), careful (as the policy says) or trusted (only before what could do harm, for 24 hours); what an agent starts or sends to others is not asked about less often than the agent itself.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  only: "people",
  grant: ["users"],
  isDurableBeforeAnswer: true,
  again: "safe",
  args: z.object({
    ...OfConversation,
    model: ModelRef.nullable().optional(),
    thinking: Thinking.nullable().optional(),
    prompt: Prompt.nullable().optional(),
    maxTokens: MaxTokens.nullable().optional(),
    posture: Posture.nullable().optional(),
  }),
  result: SettingsResult,
  fails: {
    400: "a value is not valid, the model is not of a provider in the AI settings, or the process works unattended and cannot have a posture",
    403: "the caller is a process, or does not own the process whose posture is to change",
    404: "there is no such process or conversation",
  },
  example: { args: { model: { provider: "anthropic", model: "claude-haiku-4-5" } }, result: SETTINGS_EXAMPLE },
  async run({ agents }, caller, { pid, conversationId, ...change }) {
    return agents.settings.change(caller, agents.requireProcess(caller, pid), conversationId, change);
  },
});
