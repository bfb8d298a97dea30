// Unsent text of each conversation, kept across reloads. Text that was sent is in the outbox.

import { readItem, writeItem } from "./local-storage.ts";

const TEXT_CHARS_MAX = 200_000;

export function readDraft(username: string, pid: string, conversationId: string): string {
  const stored = readItem(storageKey(username, pid, conversationId));
  if (stored === null) return "";
  try {
    const { text } = JSON.parse(stored) as { text?: unknown };
    return typeof text === "string" ? text : "";
  } catch {
    return "";
  }
}

export function saveDraft(username: string, pid: string, conversationId: string, text: string): void {
  const value = text === "" ? null : JSON.stringify({ text: text.slice(0, TEXT_CHARS_MAX) });
  writeItem(storageKey(username, pid, conversationId), value);
}

function storageKey(username: string, pid: string, conversationId: string): string {
  return `gsv.draft.${username}.${pid}.${conversationId}`;
}
