// Says a message of the user again: changed, or as it was for another answer. What followed it is archived, not lost.

import { call, describeError } from "../state/call.ts";
import type { Conversation } from "../state/conversation.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import { showNotice } from "../state/notices.ts";
import type { SentMedia, SentSettings } from "../state/outbox.ts";
import { randomUuid } from "../state/random-uuid.ts";
import { parseMedia, parseText } from "./message-content.ts";

/** How far back the message is searched that an answer belongs to. */
const SEARCH_MESSAGES = 500;

/** Throws if nothing was changed. */
export async function resendMessage(
  conversation: Conversation,
  message: HistoryMessage,
  { text = parseText(message.content), settings = {} }: { text?: string; settings?: SentSettings } = {},
): Promise<void> {
  const media = await readSentMedia(conversation.pid, message);
  await conversation.replace(message.id, { runId: randomUuid(), text, media, settings });
}

/** Asks again for the answer that `answer` is part of. A message of the user has none if the run was stopped before its first word. */
export async function retryAnswer(conversation: Conversation, answer: HistoryMessage, settings: SentSettings = {}): Promise<void> {
  try {
    const message = answer.role === "user" ? answer : await findQuestionOf(conversation, answer);
    if (message === null) return showNotice("The message that this answers is too far back. Send it again instead.", "bad");
    await resendMessage(conversation, message, { settings });
  } catch (error) {
    showNotice(describeError(error), "bad");
  }
}

async function findQuestionOf({ pid, id, window }: Conversation, { id: beforeMessageId }: HistoryMessage): Promise<HistoryMessage | null> {
  const isQuestion = ({ role, id }: HistoryMessage) => role === "user" && id < beforeMessageId;
  const known = window.peek()?.messages.findLast(isQuestion);
  if (known !== undefined) return known;
  const { messages } = await call("proc.history", { pid, conversationId: id, tail: true, beforeMessageId, limit: SEARCH_MESSAGES });
  return messages.findLast(isQuestion) ?? null;
}

/** The files of a message, to be sent again. */
function readSentMedia(pid: string, { content }: HistoryMessage): Promise<SentMedia[]> {
  const stored = parseMedia(content).filter(({ key }) => key !== null);
  return Promise.all(
    stored.map(async ({ type, key, filename }) => {
      const { dataUrl, mimeType, size } = await call("proc.media.read", { pid, key: key! });
      const named = filename === null ? {} : { filename };
      return { type: type as SentMedia["type"], mimeType, data: dataUrl, size, ...named };
    }),
  );
}
