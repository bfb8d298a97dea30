// Ways to conversations: their addresses, and a message in one of them that is to be shown when it opens.

import { signal } from "@preact/signals";
import { call, describeError } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { go, joinPath, type PaneName, type Path } from "../frame/route.ts";

export const DEFAULT_CONVERSATION = "default";

/** `messageId` is null for whatever is at the place. */
export type Jump = { pid: string; conversationId: string; messageId: number | null; place: number };
export const jump = signal<Jump | null>(null);

/** The agent that was shown last: where only the list fits, its conversations are in it. */
export const lastAgent = signal<string | null>(null);

export function conversationPath(pid: string, conversationId = DEFAULT_CONVERSATION): Path {
  return joinPath("chat", pid, conversationId);
}

export function openConversation(pid: string, conversationId = DEFAULT_CONVERSATION, pane?: PaneName): void {
  go(conversationPath(pid, conversationId), pane === undefined ? {} : { pane });
}

/** Makes a conversation of an agent and shows it. */
export async function newConversation(pid: string): Promise<void> {
  try {
    const { conversation } = await call("proc.conversation.open", { pid });
    openConversation(pid, conversation.id);
  } catch (error) {
    showNotice(describeError(error), "bad");
  }
}
