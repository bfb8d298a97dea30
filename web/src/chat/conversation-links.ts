// Navigation to conversations: their addresses, and the message to scroll to once one is open.

import { signal } from "@preact/signals";
import { call, describeError } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { go, joinPath, type PaneName, type Path } from "../frame/route.ts";

export const DEFAULT_CONVERSATION = "default";

/** `messageId` is null for whichever message is at the position. */
export type Jump = { pid: string; conversationId: string; messageId: number | null; position: number };
export const pendingJump = signal<Jump | null>(null);

/** The agent that was shown last: a narrow screen lists its conversations. */
export const lastShownPid = signal<string | null>(null);

export function conversationPath(pid: string, conversationId = DEFAULT_CONVERSATION): Path {
  return joinPath("chat", pid, conversationId);
}

export function openConversation(pid: string, conversationId = DEFAULT_CONVERSATION, pane?: PaneName): void {
  go(conversationPath(pid, conversationId), pane === undefined ? {} : { pane });
}

/** Creates a conversation of an agent and opens it. */
export async function createConversation(pid: string): Promise<void> {
  try {
    const { conversation } = await call("proc.conversation.open", { pid });
    openConversation(pid, conversation.id);
  } catch (error) {
    showNotice(describeError(error), "bad");
  }
}
