// Stops the active run of a conversation, and reports commands that may continue.

import { describeError } from "../state/call.ts";
import type { Conversation } from "../state/conversation.ts";
import { showNotice } from "../state/notices.ts";

export async function stopRun(conversation: Conversation): Promise<void> {
  // A partial answer stays, marked as stopped, and queued messages show that they are on hold: a notice would only cover them.
  const isVisible = (conversation.streamedAnswer.peek()?.blocks.length ?? 0) > 0 || (conversation.queue.value.peek() ?? []).length > 0;
  try {
    const { aborted, stillRunning } = await conversation.abortRun();
    if (!aborted) return showNotice("Nothing was running any more");
    const [first] = stillRunning;
    if (first === undefined) return isVisible ? void (conversation.announcement.value = "Stopped") : showNotice("Stopped");
    const others = stillRunning.length === 1 ? "" : ` and ${stillRunning.length - 1} more`;
    showNotice(`Stopped, but this may go on: ${first.command.slice(0, 80)} on ${first.target}${others}. ${first.why}`, "bad");
  } catch (error) {
    showNotice(describeError(error), "bad");
  }
}
