// Reads settings of a process or a conversation.

import { z } from "zod";
import { OfConversation } from "../../../../protocol/proc-records.ts";
import { SETTINGS_EXAMPLE, SettingsResult } from "../../../../protocol/process-settings.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.settings.get",
  doc: "Read the settings of a conversation, or of a process if no conversation is named: what is set there, null for what is not, and what its next run uses. A conversation's settings take precedence over its process's, those over its user's.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfConversation }),
  result: SettingsResult,
  fails: { 404: "there is no such process" },
  example: { args: {}, result: SETTINGS_EXAMPLE },
  async run({ agents }, caller, { pid, conversationId }) {
    return agents.settings.read(agents.requireProcess(caller, pid), conversationId);
  },
});
