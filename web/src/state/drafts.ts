// Unsent text of each conversation, kept across reloads. A draft whose sending was attempted keeps its run id: sent again
// unchanged, it is the same message to the gateway.

import { readItem, writeItem } from "./local-storage.ts";

export type Draft = { text: string; runId: string | null };

const EMPTY: Draft = { text: "", runId: null };
const TEXT_CHARS_MAX = 200_000;

export function readDraft(username: string, pid: string, conversationId: string): Draft {
  const stored = readItem(storageKey(username, pid, conversationId));
  if (stored === null) return EMPTY;
  try {
    const { text, runId } = JSON.parse(stored) as Partial<Draft>;
    return { text: typeof text === "string" ? text : "", runId: typeof runId === "string" ? runId : null };
  } catch {
    return EMPTY;
  }
}

export function saveDraft(username: string, pid: string, conversationId: string, { text, runId }: Draft): void {
  const value = text === "" ? null : JSON.stringify({ text: text.slice(0, TEXT_CHARS_MAX), runId });
  writeItem(storageKey(username, pid, conversationId), value);
}

/** Call it when the gateway has the message of this run. Text written since then stays. */
export function clearSentDraft(username: string, pid: string, conversationId: string, runId: string): void {
  if (readDraft(username, pid, conversationId).runId === runId) saveDraft(username, pid, conversationId, EMPTY);
}

function storageKey(username: string, pid: string, conversationId: string): string {
  return `gsv.draft.${username}.${pid}.${conversationId}`;
}
