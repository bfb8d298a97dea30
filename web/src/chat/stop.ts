// Stops what runs in a conversation, and says what goes on all the same.

import { describeError } from "../state/call.ts";
import type { Conversation } from "../state/conversation.ts";
import { showNotice } from "../state/notices.ts";

export async function stop(conversation: Conversation): Promise<void> {
  // What had come of the answer stays, marked as stopped, and what waits says so itself: a notice would only cover it.
  const isSeen = (conversation.streamedAnswer.peek()?.blocks.length ?? 0) > 0 || (conversation.queue.value.peek() ?? []).length > 0;
  try {
    const { aborted, stillRunning: left } = await conversation.abort();
    if (!aborted) return showNotice("Nothing was running any more");
    const [first] = left;
    if (first === undefined) return isSeen ? void (conversation.announcement.value = "Stopped") : showNotice("Stopped");
    const others = left.length === 1 ? "" : ` and ${left.length - 1} more`;
    showNotice(`Stopped, but this may go on: ${first.command.slice(0, 80)} on ${first.target}${others}. ${first.why}`, "bad");
  } catch (error) {
    showNotice(describeError(error), "bad");
  }
}
