// What was written and not sent yet, for each conversation, also after a reload. With it the number under which it was
// last tried: sent again unchanged it is the same message, however often.

import { store, stored } from "./stored.ts";

export type Draft = { text: string; runId: string | null };

const EMPTY: Draft = { text: "", runId: null };
const TEXT_CHARS_MAX = 200_000;

export function readDraft(username: string, pid: string, conversationId: string): Draft {
  const kept = stored(keyOf(username, pid, conversationId));
  if (kept === null) return EMPTY;
  try {
    const { text, runId } = JSON.parse(kept) as Partial<Draft>;
    return { text: typeof text === "string" ? text : "", runId: typeof runId === "string" ? runId : null };
  } catch {
    return EMPTY;
  }
}

export function keepDraft(username: string, pid: string, conversationId: string, { text, runId }: Draft): void {
  const value = text === "" ? null : JSON.stringify({ text: text.slice(0, TEXT_CHARS_MAX), runId });
  store(keyOf(username, pid, conversationId), value);
}

/** The gateway has what was sent under this number; what was written since stays. */
export function settleDraft(username: string, pid: string, conversationId: string, runId: string): void {
  if (readDraft(username, pid, conversationId).runId === runId) keepDraft(username, pid, conversationId, EMPTY);
}

function keyOf(username: string, pid: string, conversationId: string): string {
  return `gsv.draft.${username}.${pid}.${conversationId}`;
}
